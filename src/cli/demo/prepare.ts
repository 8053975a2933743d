import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findClient } from "../../core/credentials/client.ts";
import { isSecretOf } from "../../core/credentials/secret.ts";
import { systemClock } from "../../core/kernel/clock.ts";
import { randomIds } from "../../core/kernel/ids.ts";
import { readSetting } from "../../core/platform/settings.ts";
import type { Store } from "../../core/store/store.ts";
import { prepareStore } from "../../daemon/serve/prepare-store.ts";
import { DEFAULT_ADDRESS } from "../client/in-process.ts";
import { CliError, usageError } from "../kernel/errors.ts";
import { openOrCreate } from "../place/local-store.ts";
import type { Place } from "../place/place.ts";
import { type DemoCredential, loadDemo } from "./content.ts";
import { addDemoPeople, type DemoUser } from "./people.ts";

/** The demo partner's credentials, kept beside the data (0600) so that each start can print them again. */
const FILE = "demo-credentials.json";

/** The demo partner's credentials; `refused` has the client ids of those that were rotated or revoked since. */
interface PreparedDemo {
  created: boolean;
  credentials: DemoCredential[];
  refused: string[];
  users: DemoUser[];
  /** Where it was last served, or the default address. */
  publicUrl: string;
}

/** Makes the place with its demo content where there is none, and returns the demo partner's credentials. */
export async function prepareDemo(place: Place): Promise<PreparedDemo> {
  const file = join(folderOf(place), FILE);
  const sources = { clock: systemClock, ids: randomIds() };
  const { store, created } = await openOrCreate(place, sources);
  try {
    await prepareStore(store);
    const kept = existsSync(file) ? readKept(file) : null;
    const credentials = kept?.credentials ?? (await loadDemo(store));
    // A demo of an earlier version has no people.
    const users = kept !== null && kept.users.length > 0 ? kept.users : await addDemoPeople(store, sources);
    writeFileSync(`${file}.new`, `${JSON.stringify({ credentials, users }, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    const refused = kept === null ? [] : await refusedOf(store, credentials);
    const publicUrl = (await store.read(readSetting, "public_url")) ?? DEFAULT_ADDRESS;
    return { created, credentials, refused, users, publicUrl };
  } finally {
    await store.close();
  }
}

/** Where the credentials are kept. Throws a usage error for a database without a key file: there is no folder. */
function folderOf(place: Place): string {
  if (place.kind === "directory") return place.path;
  if (place.keyFile !== null) return dirname(place.keyFile);
  throw usageError("Demo data in a database needs a key file.", "Add --key-file FILE, and leave ESIMCTL_KEY out.");
}

async function refusedOf(store: Store, kept: readonly DemoCredential[]): Promise<string[]> {
  const refused: string[] = [];
  for (const { client_id, client_secret } of kept) {
    const client = await store.read(findClient, client_id);
    const given = { clientId: client_id, secret: client_secret };
    const matches = isSecretOf(store.vault, given, client);
    if (!matches || client?.valid !== true) refused.push(client_id);
  }
  return refused;
}

function readKept(file: string): { credentials: DemoCredential[]; users: DemoUser[] } {
  const broken = new CliError(
    "demo_broken",
    `${file} does not hold the demo credentials.`,
    "Remove it, and new ones are issued at the next start.",
  );
  try {
    const { credentials, users = [] } = JSON.parse(readFileSync(file, "utf8"));
    if (Array.isArray(credentials) && credentials.every(isCredential) && Array.isArray(users)) {
      return { credentials, users: users.filter(isUser) };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw broken;
}

function isUser(value: unknown): value is DemoUser {
  const { face, email, password } = Object(value);
  return [face, email, password].every((text) => typeof text === "string");
}

function isCredential(value: unknown): value is DemoCredential {
  const { environment, client_id, client_secret } = Object(value);
  return [environment, client_id, client_secret].every((text) => typeof text === "string");
}

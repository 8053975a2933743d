import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findClient } from "../../core/credentials/client.ts";
import { isSecretOf } from "../../core/credentials/secret.ts";
import { systemClock } from "../../core/kernel/clock.ts";
import { randomIds } from "../../core/kernel/ids.ts";
import type { Store } from "../../core/store/store.ts";
import { prepareStore } from "../../daemon/serve/prepare-store.ts";
import { CliError, usageError } from "../kernel/errors.ts";
import { openOrCreate } from "../place/local-store.ts";
import type { Place } from "../place/place.ts";
import { type DemoCredential, loadDemo } from "./content.ts";

/** The demo partner's credentials, kept beside the data (0600) so that each start can print them again. */
const FILE = "demo-credentials.json";

/** The demo partner's credentials; `refused` has the client ids of those that were rotated or revoked since. */
interface PreparedDemo {
  created: boolean;
  credentials: DemoCredential[];
  refused: string[];
}

/** Makes the place with its demo content where there is none, and returns the demo partner's credentials. */
export async function prepareDemo(place: Place): Promise<PreparedDemo> {
  const file = join(folderOf(place), FILE);
  const { store, created } = await openOrCreate(place, { clock: systemClock, ids: randomIds() });
  try {
    await prepareStore(store);
    if (existsSync(file)) {
      const kept = readCredentials(file);
      return { created, credentials: kept, refused: await refusedOf(store, kept) };
    }
    const credentials = await loadDemo(store);
    writeFileSync(`${file}.new`, `${JSON.stringify({ credentials }, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return { created, credentials, refused: [] };
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

function readCredentials(file: string): DemoCredential[] {
  const broken = new CliError(
    "demo_broken",
    `${file} does not hold the demo credentials.`,
    "Remove it, and new ones are issued at the next start.",
  );
  try {
    const { credentials } = JSON.parse(readFileSync(file, "utf8"));
    if (Array.isArray(credentials) && credentials.every(isCredential)) return credentials;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw broken;
}

function isCredential(value: unknown): value is DemoCredential {
  const { environment, client_id, client_secret } = Object(value);
  return [environment, client_id, client_secret].every((text) => typeof text === "string");
}

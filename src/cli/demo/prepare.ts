import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../core/kernel/clock.ts";
import { randomIds } from "../../core/kernel/ids.ts";
import { prepareStore } from "../../daemon/prepare.ts";
import { CliError } from "../errors.ts";
import { openOrCreate } from "../local-store.ts";
import type { Place } from "../place.ts";
import { type DemoCredential, loadDemo } from "./content.ts";

/** The demo partner's credentials, kept beside the data (0600) so that each start can print them again. */
const FILE = "demo-credentials.json";

/** Makes the place with its demo content where there is none, and answers the demo partner's credentials. */
export async function prepareDemo(place: Place): Promise<{ created: boolean; credentials: DemoCredential[] }> {
  const file = join(place.kind === "directory" ? place.path : dirname(place.keyFile), FILE);
  const { store, created } = await openOrCreate(place, { clock: systemClock, ids: randomIds() });
  try {
    await prepareStore(store);
    if (existsSync(file)) return { created, credentials: readCredentials(file) };
    const credentials = await loadDemo(store);
    writeFileSync(`${file}.new`, `${JSON.stringify({ credentials }, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return { created, credentials };
  } finally {
    await store.close();
  }
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

import type { Actor } from "../audit/record.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { dataDirectory, lockDataDirectory, noteMove, refuseMoved } from "../platform/data-directory.ts";
import { copyToPostgres } from "../store/open/copy-to-postgres.ts";
import { openStore } from "../store/open/open.ts";
import { findMasterKey, type KeySources } from "../store/sealing/key-files.ts";
import { recordAct } from "./record-act.ts";
import { tryCopy } from "./try-copy.ts";

const STAYS = "The data directory stays in use: see esimctl doctor there, and drop the PostgreSQL database.";

/** What is to be moved where. */
export interface MoveInput {
  /** The data directory; no daemon runs on it. */
  directory: string;
  /** Where its master key is. */
  keys: KeySources;
  /** The address of an unused PostgreSQL database. */
  url: string;
  /** Whether that may be beyond this machine without TLS. */
  insecure: boolean;
  /** The same address for people, without its password. */
  name: string;
  /** Who moves it, for the audit trail. */
  actor: Actor;
  clock: Clock;
  ids: Ids;
  onProgress: (progress: { done: number; total: number }) => void;
}

/**
 * Moves an installation to PostgreSQL: all or nothing, compared row by row, its ledger checked and its key tried there.
 * From then on the directory refuses to be worked on; its files stay as they are. Answers the rows that were copied.
 * Throws `StoreError`; the directory then stays in use.
 */
export async function moveToPostgres(input: MoveInput): Promise<number> {
  const { directory, keys, name, actor, clock, ids, onProgress } = input;
  const address = { url: input.url, insecure: input.insecure };
  refuseMoved(directory);
  const { databaseFile } = dataDirectory(directory);
  const { key: masterKey } = findMasterKey(keys);
  const release = lockDataDirectory(directory);
  try {
    // Brought up to date, sealed as this program seals, and read whole for damage.
    const source = await openStore({ file: databaseFile, create: false, verify: true }, { clock, ids, masterKey });
    await source.close();
    const entry = { actor, action: "data.migrate", targetKind: "database", targetId: name };
    await recordAct(databaseFile, { clock, ids, masterKey }, entry);
    return await copyToPostgres(databaseFile, address, {
      onProgress,
      async committed() {
        await tryCopy(address, { masterKey, clock, hint: STAYS });
        noteMove(directory, name);
      },
    });
  } finally {
    release();
  }
}

import type { Actor } from "../audit/record.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { dataDirectory, lockDataDirectory, noteMove, refuseMoved } from "../store/data-directory.ts";
import { type CopyProgress, copyToPostgres } from "../store/engines/copy-to-postgres.ts";
import { openStore } from "../store/engines/open.ts";
import { type Existing, openForReading } from "../store/engines/reading.ts";
import { findMasterKey, type KeySources } from "../store/key-files.ts";
import { StoreError } from "../store/problems.ts";
import { checkLedger } from "./data-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { isFault } from "./finding.ts";
import { recordAct } from "./record-act.ts";

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
  onProgress: (progress: CopyProgress) => void;
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
        await tryTarget(address, { masterKey, clock });
        noteMove(directory, name);
      },
    });
  } finally {
    release();
  }
}

async function tryTarget(where: Existing, { masterKey, clock }: { masterKey: Buffer; clock: Clock }): Promise<void> {
  const reading = await openForReading(where, { clock });
  try {
    await reading.openKeys(masterKey);
    const found = [await reading.read(checkLedger, null), await reading.read(checkEvidence, { keyed: true })].find(
      isFault,
    );
    if (found === undefined) return;
    const hint = "The data directory stays in use: see esimctl doctor there, and drop the PostgreSQL database.";
    throw new StoreError(found.message, hint);
  } finally {
    await reading.close();
  }
}

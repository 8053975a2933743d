import type { Owner } from "../../kernel/owner.ts";
import type { Engine } from "../engine.ts";
import { StoreError } from "../problems.ts";
import { headsAreUnmarked, markHeads } from "../sealing/chain.ts";
import {
  dropUnboundKeys,
  ensureBindingKey,
  ensureDataKeys,
  hasNoDataKeys,
  hasPlainCredentials,
  hasUnboundKeys,
  keyCredentials,
  withCurrentKeys,
} from "../sealing/data-keys.ts";
import { bindBatch, type ResealedBatch, sealedPlaces } from "../sealing/reseal.ts";
import { peopleAreClear, sealPeople } from "../sealing/seal-people.ts";
import { openSqlite, readBeside } from "../sqlite/sqlite.ts";
import type { Command, Store } from "../store.ts";
import type { Prefetching } from "../writer.ts";
import { type Opening, type StoreBase, storeOver, type Writes, type WritesBase } from "./store-over.ts";

/** Where the database is: a file of SQLite, or a PostgreSQL address, and that of a replica for reads. */
export type Location = FileLocation | { url: string; insecure?: boolean; replica?: string | undefined };

interface FileLocation {
  file: string;
  create: boolean;
  verify?: boolean;
  /** Another thread reads it and leaves its writes to this one. */
  watched?: boolean;
  /** Where it is watched: few large transactions follow each other. */
  bulk?: boolean | undefined;
}

/** What a store takes from outside. */
export interface StoreDependencies extends StoreBase {
  /** Called, with words for a person, each time that opening waits for other sessions on PostgreSQL. */
  onWait?: ((words: string) => void) | undefined;
  /** How many connections to PostgreSQL this process may keep open; left out: 12. */
  connections?: number | undefined;
}

/**
 * Opens the database, brings its schema up to date, unwraps its data keys. Throws `StoreError`, in words, when the
 * database is damaged, newer than this program, out of reach, or belongs to another key file.
 */
export async function openStore(location: Location, dependencies: StoreDependencies): Promise<Store> {
  const engine = await openEngine(location, dependencies);
  try {
    const opening = storeOver(engine, (base) => ownWrites(engine, base), dependencies);
    await prepareData(opening);
    return opening.store;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * A store on a database file that another thread of this process has opened with `openStore`, as `watched`, and where
 * that thread makes its writes. Throws `StoreError`.
 */
export async function openBeside(file: string, writes: WritesBeside, base: StoreBase): Promise<Store> {
  const engine = readBeside(file);
  try {
    const { store, reloadKeys } = storeOver(engine, writes, base);
    await reloadKeys();
    return store;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Connects a store to the writes that another thread makes. */
export type WritesBeside = (base: Pick<WritesBase, "committed" | "report">) => Writes;

async function openEngine(location: Location, given: StoreDependencies): Promise<Engine> {
  if ("file" in location) {
    const { file, create, verify = false, watched, bulk } = location;
    return openSqlite(file, { create, verify, watched, bulk });
  }
  if (!/^postgres(ql)?:\/\//.test(location.url)) {
    throw new StoreError(
      "The database address is not one of PostgreSQL.",
      "Give --database postgres://user@host/name.",
    );
  }
  // Loaded only when asked for: most installations never need the driver.
  const { openPostgres } = await import("../postgres/postgres.ts");
  return openPostgres(location, { ...given, id: given.ids.uuid(given.clock.now()) });
}

/** Gives a new database its keys, and one of an earlier version what only code can compute. */
async function prepareData({ store: { write, erase }, holds, reloadKeys }: Opening): Promise<void> {
  if (await holds(hasNoDataKeys)) await write(ensureDataKeys, null);
  await reloadKeys();
  if (await holds(hasPlainCredentials)) {
    await write(keyCredentials, null);
    await reloadKeys();
  }
  const unbound = await holds(hasUnboundKeys);
  if (await holds(peopleAreClear)) {
    // Before the keys of an earlier version go: names join what is sealed under them.
    if (unbound) await write(ensureBindingKey, null);
    await sealPeople({ write, erase });
    await reloadKeys();
  }
  if (unbound) {
    await bindSealedValues({ write, erase });
    await reloadKeys();
  }
  if (await holds(headsAreUnmarked)) await write(markHeads, null);
}

/** Writes by this thread. */
function ownWrites(engine: Engine, { makeTx, keys, committed }: WritesBase): Writes {
  const commits = engine.commits({ makeTx, committed, prepared: (writer) => withCurrentKeys(writer, keys) });
  const write: Store["write"] = <I, O>(command: Command<I, O>, input: I, requestId?: string, owner?: Owner) =>
    new Promise<O>((resolve, reject) => {
      // `value` is what `command` answered for this very entry, and its inputs are those of its own writes.
      const settle = { resolve: (value: unknown) => resolve(value as O), reject };
      const prefetching = command.prefetch === undefined ? null : (command as Prefetching);
      const lane = command.lane?.(input) ?? null;
      const about = { requestId: requestId ?? null, owner: owner ?? null, prefetching, lane };
      commits.push({ run: (tx) => command(tx, input), input, ...about, ...settle });
    });
  return {
    write,
    rehearse: (command, input) => rehearse(write, command, input),
    erase: engine.erase,
    close: commits.close,
  };
}

/** Runs a command by `write` and takes all of it back by failing in the end; answers what the command answered. */
async function rehearse<I, O>(write: Store["write"], command: Command<I, O>, input: I): Promise<O> {
  const takenBack = new Error("this was a rehearsal");
  const results: { value: O }[] = [];
  try {
    return await write<null, O>(async (tx) => {
      results.push({ value: await command(tx, input) });
      throw takenBack;
    }, null);
  } catch (error) {
    const last = results.at(-1);
    if (error === takenBack && last !== undefined) return last.value;
    throw error;
  }
}

/** Rows of one transaction: few enough that an interruption loses little. */
const REBOUND_ROWS = 1000;

/**
 * Seals again what an earlier version sealed, so that it opens in its own cell only, and deletes the keys that it was
 * sealed under. Transaction by transaction: where it is cut off, the next start goes on. What cannot be read even now
 * stays unreadable.
 */
async function bindSealedValues({ write, erase }: Pick<Store, "write" | "erase">): Promise<void> {
  await write(ensureBindingKey, null);
  for (const place of sealedPlaces) {
    let after: string | null = "";
    while (after !== null) {
      const batch: ResealedBatch = await write(bindBatch, { place, after, limit: REBOUND_ROWS });
      after = batch.next;
    }
  }
  await write(dropUnboundKeys, null);
  await erase();
}

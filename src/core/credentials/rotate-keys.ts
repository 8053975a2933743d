import { count, isNotNull } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { StoreError } from "../store/problems.ts";
import {
  type DataKeyRotation,
  dropRetiredKeys,
  replaceLinkKey,
  rewrapDataKeys,
  rotateDataKey,
} from "../store/sealing/data-keys.ts";
import {
  findMasterKey,
  type GivenKey,
  type KeySources,
  keepKeyFile,
  nextKeyFile,
  parseMasterKey,
  putKeyFileAside,
  readKeyFile,
  replaceKeyFile,
} from "../store/sealing/key-files.ts";
import { type ResealedBatch, resealBatch, sealedPlaces } from "../store/sealing/reseal.ts";
import { first, statement } from "../store/statement.ts";
import type { Read, Store, Tx } from "../store/store.ts";

/** Rows sealed again in one transaction: few enough that those who serve never wait long. */
const BATCH = 200;

/** Rounds over all places before giving up; the second finds what was copied while the first went on. */
const MOST_ROUNDS = 5;

/** Begins a rotation of the data key, or goes on with one that was cut off. */
async function beginDataKeyRotation(tx: Tx, input: { actor: Actor }): Promise<DataKeyRotation> {
  const rotation = await rotateDataKey(tx);
  await recordAudit(tx, {
    actor: input.actor,
    action: "keys.rotate-data",
    targetKind: "data_key",
    targetId: rotation.keyId,
    note: rotation.resumed ? "resumed" : null,
  });
  return rotation;
}

/** How far a rotation came. */
export interface RotationResult extends DataKeyRotation {
  /** Fields sealed again by this run. */
  resealed: number;
  /** Old keys that are gone for good. */
  dropped: number;
  /** Values that cannot be read, and stay as they are; see doctor. */
  unreadable: number;
  /** Whether everything is sealed under the new key; false when it was stopped, or a value cannot be read. */
  finished: boolean;
}

/** How a rotation goes about its work. */
export interface RotationOptions {
  actor: Actor;
  /** Called between transactions, so that other processes get their turn at the database. */
  rest(): Promise<void>;
  /** Once aborted it ends after the transaction under way; the same call later goes on. */
  signal?: AbortSignal;
  progress?(resealed: number): void;
}

/**
 * Rotates the data key while others serve: from now on everything is sealed under a new key; what is sealed already is
 * sealed again, a few rows at a time; then the old key is deleted.
 */
export async function rotateAndReseal(store: Store, options: RotationOptions): Promise<RotationResult> {
  const rotation = await store.write(beginDataKeyRotation, { actor: options.actor });
  let [resealed, unreadable, dropped] = [0, 0, 0];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const done = await resealPlaces(store, options, resealed);
    ({ resealed, unreadable } = done);
    if (options.signal?.aborted) break;
    const cleared = await store.write(dropRetiredKeys, null);
    dropped += cleared.dropped;
    if (cleared.kept === 0) return { ...rotation, resealed, unreadable, dropped, finished: true };
    // Only what cannot be read is left: another round would come to the same.
    if (unreadable > 0 && done.fresh === 0) break;
  }
  return { ...rotation, resealed, unreadable, dropped, finished: false };
}

async function resealPlaces(store: Store, options: RotationOptions, before: number) {
  let [resealed, unreadable] = [before, 0];
  for (const place of sealedPlaces) {
    let after: string | null = "";
    while (after !== null && !options.signal?.aborted) {
      const batch: ResealedBatch = await store.write(resealBatch, { place, after, limit: BATCH });
      resealed += batch.resealed;
      unreadable += batch.unreadable;
      after = batch.next;
      options.progress?.(resealed);
      await options.rest();
    }
  }
  return { resealed, unreadable, fresh: resealed - before };
}

/** The key files after a rotation. */
interface RotatedMasterKey {
  /** Null: the key is kept outside. */
  key_file: string | null;
  /** The old key, for backups that were made without one; null: it was kept outside. */
  old_key_file: string | null;
}

async function rewrapAll(tx: Tx, input: { from: Buffer; to: Buffer; actor: Actor }): Promise<string> {
  await rewrapDataKeys(tx, input);
  await recordAudit(tx, {
    actor: input.actor,
    action: "keys.rotate-master",
    targetKind: "master_key",
    targetId: "master",
  });
  return isoTime(tx.now);
}

/**
 * Wraps the data keys under a new master key, in one transaction, while others serve. The new key is on disk before it,
 * beside the key file, and takes its place after it: whatever cuts this off, one of the two files opens the database,
 * and the next start puts the right one in place. The old key is kept under another name. Throws `StoreError`.
 */
export async function rotateMasterKey(
  store: Store,
  { keyFile, ids, actor }: { keyFile: string; ids: Ids; actor: Actor },
): Promise<RotatedMasterKey> {
  const old = readKeyFile(keyFile);
  const from = parseMasterKey(old, keyFile);
  const to = nextKeyFile(keyFile, ids);
  const at = await store.write(rewrapAll, { from, to, actor });
  const old_key_file = keepKeyFile(keyFile, old, at);
  replaceKeyFile(keyFile);
  return { key_file: keyFile, old_key_file };
}

/**
 * Wraps the data keys under `next`, which is kept outside. A key file that is there is put aside afterwards. Cut off
 * before that, the next start refuses: the key file and the new key differ. Throws `StoreError`.
 */
export async function rotateToGivenKey(
  store: Store,
  { keys, next, actor }: { keys: KeySources; next: GivenKey; actor: Actor },
): Promise<RotatedMasterKey> {
  const { key: from, name } = findMasterKey(keys);
  const to = parseMasterKey(next.text, next.name);
  if (to.equals(from)) {
    throw new StoreError(`${next.name} holds the key of ${name}, which is in use.`, "Give a new one.");
  }
  const at = await store.write(rewrapAll, { from, to, actor });
  return { key_file: null, old_key_file: putKeyFileAside(keys.file, at) };
}

const linked = statement((db, t, _slot) =>
  db.select({ many: count() }).from(t.esims).where(isNotNull(t.esims.order_id)),
);

/** How many eSIMs of orders have addresses that a rotation would end. */
export async function countLinks(q: Read, _input: null): Promise<number> {
  return first(await linked(q, {}))?.many ?? 0;
}

/**
 * Makes a new key for the addresses of QR codes and install pages. Older addresses lead nowhere from now on; the API
 * shows new ones. Returns the new key's ID.
 */
export async function rotateLinkKey(tx: Tx, input: { actor: Actor }): Promise<string> {
  const keyId = await replaceLinkKey(tx);
  await recordAudit(tx, { actor: input.actor, action: "keys.rotate-links", targetKind: "data_key", targetId: keyId });
  return keyId;
}

import { type Actor, recordAudit } from "../audit/record.ts";
import { type DataKeyRotation, dropRetiredKeys, rotateDataKey } from "../store/sealing/data-keys.ts";
import { type ResealedBatch, resealBatch, sealedPlaces } from "../store/sealing/reseal.ts";
import type { Store, Tx } from "../store/store.ts";

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

import { type Actor, recordAudit } from "../audit/record.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { StoreError } from "../store/problems.ts";
import { rewrapDataKeys } from "../store/sealing/data-keys.ts";
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
import type { Store, Tx } from "../store/store.ts";

/** The key files after a rotation. */
export interface RotatedMasterKey {
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

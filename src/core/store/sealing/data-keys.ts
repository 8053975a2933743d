import { and, eq, isNotNull, isNull } from "drizzle-orm";
import { newId } from "../../kernel/ids.ts";
import { StoreError } from "../problems.ts";
import { insert, updateRow } from "../rows.ts";
import { keyPurposes } from "../schema/values.ts";
import { first, type Slots, statement } from "../statement.ts";
import type { Read, Tx } from "../store.ts";
import { noteErasure, storedValue } from "../stored-value.ts";
import type { DataKey, Vault } from "../vault.ts";
import type { Writer } from "../writer.ts";
import { CREDENTIAL_MARK, markOfCredential, openBytes, sealBytes } from "./create-vault.ts";
import { refuseRelocatedDatabase } from "./relocated.ts";
import { isKeyUsed } from "./reseal.ts";

const allKeys = statement((db, t, _slot) => db.select().from(t.dataKeys).orderBy(t.dataKeys.created_at, t.dataKeys.id));

/** Whether this database was never used. */
export async function hasNoDataKeys(q: Read, _input: null = null): Promise<boolean> {
  return (await allKeys(q, {})).length === 0;
}

/** Makes the data keys of a new database, wrapped under the master key, and starts its epoch. */
export async function ensureDataKeys(tx: Tx, _input: null): Promise<void> {
  if (!(await hasNoDataKeys(tx))) return;
  for (const purpose of keyPurposes) await addDataKey(tx, purpose);
  await tx.db.insert(tx.t.settings).values({ key: "epoch", value: "1" }).onConflictDoNothing();
}

/** Adds a 256-bit data key for `purpose`, a fresh one unless given; answers its id. */
async function addDataKey(tx: Tx, purpose: DataKey["purpose"], secret = tx.ids.bytes(32)): Promise<string> {
  const id = newId(tx);
  const wrapped = tx.vault.wrapKey(secret, id);
  await insert(tx, "dataKeys", [{ id, purpose, wrapped, created_at: tx.now }]);
  return id;
}

/** Whether the secrets of the credentials are still stored as hashes without a key. */
export async function hasPlainCredentials(q: Read, _input: null = null): Promise<boolean> {
  return !(await allKeys(q, {})).some(({ purpose }) => purpose === "credential");
}

const storedSecrets = statement((db, t, _slot) =>
  db.select({ client_id: t.credentials.client_id, secret_hash: t.credentials.secret_hash }).from(t.credentials),
);

/**
 * Brings a database from before keyed credentials up to date, once: makes their key and replaces each hash by its mark.
 * Throws `StoreError` when there are marks without their key: a hash that was written in must not become a mark.
 */
export async function keyCredentials(tx: Tx, _input: null): Promise<void> {
  if (!(await hasPlainCredentials(tx))) return;
  const rows = await storedSecrets(tx, {});
  if (rows.some(({ secret_hash }) => secret_hash.startsWith(CREDENTIAL_MARK))) {
    throw new StoreError(
      "The key of the credentials was removed from the database.",
      "The database was changed by hand: restore a backup from before (esimctl restore).",
    );
  }
  const secret = tx.ids.bytes(32);
  await addDataKey(tx, "credential", secret);
  for (const { client_id, secret_hash } of rows) {
    await updateRow(
      tx,
      "credentials",
      { client_id },
      { secret_hash: markOfCredential(secret, client_id, secret_hash) },
    );
  }
  await tx.touch();
}

/** The data keys, unwrapped. Throws `StoreError` when the master key is not the one of this database. */
export async function loadDataKeys(q: Read, masterKey: Buffer): Promise<DataKey[]> {
  const rows = await allKeys(q, {});
  return rows.map((row) => ({
    id: row.id,
    purpose: row.purpose,
    secret: unwrap(row, masterKey),
    retired: row.retired_at !== null,
  }));
}

function unwrap(row: { id: string; wrapped: string }, masterKey: Buffer): Buffer {
  try {
    return openBytes(masterKey, row.wrapped, row.id);
  } catch (error) {
    throw new StoreError(
      "The master key does not belong to this database.",
      "Put back the key file that was made with it, or correct ESIMCTL_KEY or the credential that holds its key.",
      error,
      { wrongKey: true },
    );
  }
}

const currentKey = statement((db, t, _slot) =>
  db
    .select({ id: t.dataKeys.id })
    .from(t.dataKeys)
    .where(and(eq(t.dataKeys.purpose, "cell"), isNull(t.dataKeys.retired_at))),
);

const retiredKeys = statement((db, t, _slot) =>
  db
    .select({ id: t.dataKeys.id })
    .from(t.dataKeys)
    .where(and(eq(t.dataKeys.purpose, "cell"), isNotNull(t.dataKeys.retired_at)))
    .orderBy(t.dataKeys.created_at, t.dataKeys.id),
);

const unboundKeys = statement((db, t, _slot) =>
  db.select({ id: t.dataKeys.id }).from(t.dataKeys).where(eq(t.dataKeys.purpose, "field")),
);

const deleteKey = statement((db, t, slot: Slots<{ id: string }>) =>
  db.delete(t.dataKeys).where(eq(t.dataKeys.id, slot.id)),
);

/** A rotation of the key of sealed values that has begun. */
export interface DataKeyRotation {
  /** The key that seals from now on. */
  keyId: string;
  /** An earlier rotation was cut off: it goes on, and no further key was made. */
  resumed: boolean;
}

/** Makes a new key the current one; the old one opens what it sealed until `dropRetiredKeys` deletes it. */
export async function rotateDataKey(tx: Tx): Promise<DataKeyRotation> {
  const current = first(await currentKey(tx, {}));
  if (current === null) throw new Error("no key of sealed values in the database");
  if ((await retiredKeys(tx, {})).length > 0) return { keyId: current.id, resumed: true };
  await updateRow(tx, "dataKeys", { id: current.id }, { retired_at: tx.now });
  const keyId = await addDataKey(tx, "cell");
  await tx.touch();
  return { keyId, resumed: false };
}

const rewrap = statement((db, t, slot: Slots<{ id: string; wrapped: string }>) =>
  db.update(t.dataKeys).set({ wrapped: slot.wrapped }).where(eq(t.dataKeys.id, slot.id)),
);

/** Wraps every data key under another master key. Throws `StoreError` when `from` is not the database's. */
export async function rewrapDataKeys(tx: Tx, { from, to }: { from: Buffer; to: Buffer }): Promise<void> {
  for (const { id, secret } of await loadDataKeys(tx, from)) {
    await rewrap(tx, { id, wrapped: sealBytes(to, secret, id) });
  }
  await tx.touch();
}

/** Replaces the key of the links by a new one: every address that was made before leads nowhere. Returns its ID. */
export async function replaceLinkKey(tx: Tx): Promise<string> {
  for (const { id, purpose } of await allKeys(tx, {})) if (purpose === "link") await deleteKey(tx, { id });
  const keyId = await addDataKey(tx, "link");
  await tx.touch();
  return keyId;
}

/** Deletes the retired keys under which nothing is sealed any more; answers how many had to stay. */
export async function dropRetiredKeys(tx: Tx, _input: null): Promise<{ dropped: number; kept: number }> {
  const retired = await retiredKeys(tx, {});
  let dropped = 0;
  for (const { id } of retired) {
    // A command of this very batch may seal under the key that its transaction began with.
    if (id === tx.vault.currentKey() || (await isKeyUsed(tx, id))) continue;
    await deleteKey(tx, { id });
    dropped += 1;
  }
  if (dropped > 0) {
    await noteErasure(tx);
    await tx.touch();
  }
  return { dropped, kept: retired.length - dropped };
}

/** Whether keys of an earlier version are there: then it may have sealed values that are bound to no cell. */
export async function hasUnboundKeys(q: Read, _input: null = null): Promise<boolean> {
  return (await unboundKeys(q, {})).length > 0;
}

/** Adds the first key that binds values to their cells, beside the keys of an earlier version. */
export async function ensureBindingKey(tx: Tx, _input: null): Promise<void> {
  if ((await currentKey(tx, {})).length > 0) return;
  // A program of the earlier version that still runs finds no key to seal under from now on, and fails.
  for (const { id } of await unboundKeys(tx, {})) await updateRow(tx, "dataKeys", { id }, { retired_at: tx.now });
  await addDataKey(tx, "cell");
  await tx.touch();
}

/** Deletes the keys of an earlier version: what it sealed can never be opened again. */
export async function dropUnboundKeys(tx: Tx, _input: null): Promise<void> {
  for (const { id } of await unboundKeys(tx, {})) await deleteKey(tx, { id });
  await noteErasure(tx);
  await tx.touch();
}

/** Keeps a vault's keys those of the database. */
export interface Keyring {
  /** The epoch whose keys the vault holds; -1 before the first. */
  epoch(): number;
  /**
   * Takes over the keys that `q` sees, if they are newer. Throws `StoreError` when the master key is another one, or
   * the data went on elsewhere.
   */
  refresh(q: Read): Promise<void>;
}

/**
 * The keyring of one process's vault. Where the master key opens the data keys no more, another process rotated it:
 * then one of `candidates` does. A new key that is kept outside is none of them: then the keys that are held serve on,
 * for as long as the database has no others.
 */
export function keyring(vault: Vault, masterKey: Buffer, candidates: () => Buffer[] = () => []): Keyring {
  let held = -1;
  let master = masterKey;

  async function load(q: Read): Promise<DataKey[] | null> {
    try {
      return await loadDataKeys(q, master);
    } catch (error) {
      if (!(error instanceof StoreError && error.wrongKey)) throw error;
      for (const candidate of candidates()) {
        const keys = await loadDataKeys(q, candidate).catch(() => null);
        if (keys === null) continue;
        master = candidate;
        vault.useMasterKey(candidate);
        return keys;
      }
      const states = (await allKeys(q, {})).map(({ id, retired_at }) => ({ id, retired: retired_at !== null }));
      if (vault.keep(states)) return null;
      throw error;
    }
  }

  return {
    epoch: () => held,
    async refresh(q) {
      const seen = Number((await storedValue(q, "epoch")) ?? 0);
      if (seen <= held) return;
      await refuseRelocatedDatabase(q);
      const keys = await load(q);
      // Meanwhile a transaction may have brought newer ones than this snapshot has.
      if (seen <= held) return;
      if (keys !== null) vault.reload(keys);
      held = seen;
    },
  };
}

/**
 * The writer whose transactions begin with the keys of the database: nothing is ever sealed under a key that another
 * process has retired before, so a key under which nothing is sealed any more stays so.
 */
export function withCurrentKeys(writer: Writer, keys: Keyring): Writer {
  let refreshed = Promise.resolve();
  return {
    ...writer,
    async begin(careful, slots) {
      await writer.begin(careful, slots);
      refreshed = keys.refresh(writer.tx(() => undefined, null));
      // What it fails with is thrown by `ready`, if anything is to be written by then.
      refreshed.catch(() => undefined);
    },
    ready: () => refreshed,
  };
}

import { StoreError } from "./problems.ts";
import { insertRow, statement } from "./statement.ts";
import type { Read, Tx } from "./store.ts";
import { type DataKey, openBytes, sealBytes } from "./vault.ts";

const PURPOSES = ["field", "index", "link"] as const;

const allKeys = statement((db, t, _slot) => db.select().from(t.dataKeys).orderBy(t.dataKeys.created_at, t.dataKeys.id));

/** Whether this database was never used. */
export async function hasNoDataKeys(q: Read): Promise<boolean> {
  return (await allKeys(q, {})).length === 0;
}

/** Makes the data keys of a new database, wrapped under the master key, and starts its epoch. */
export async function ensureDataKeys(tx: Tx, masterKey: Buffer): Promise<void> {
  if (!(await hasNoDataKeys(tx))) return;
  for (const purpose of PURPOSES) await addDataKey(tx, masterKey, purpose);
  await tx.db.insert(tx.t.settings).values({ key: "epoch", value: "1" }).onConflictDoNothing();
}

/** Adds a fresh 256-bit data key for `purpose`; answers its id. */
export async function addDataKey(tx: Tx, masterKey: Buffer, purpose: DataKey["purpose"]): Promise<string> {
  const id = tx.ids.uuid(tx.now);
  await insertRow(tx, "dataKeys", {
    id,
    purpose,
    wrapped: sealBytes(masterKey, tx.ids.bytes(32), id),
    created_at: tx.now,
  });
  return id;
}

/** The data keys, unwrapped. Throws `StoreError` when the key file is not the one of this database. */
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
      "The key file does not belong to this database.",
      "Put back the key file that was made with it (from your backup).",
      error,
    );
  }
}

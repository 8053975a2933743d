import { isoTime } from "../kernel/clock.ts";
import { notFound } from "../kernel/problem.ts";
import { Secret } from "../kernel/secret.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { SupplierAdapter } from "../store/schema/values.ts";
import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";

export type SupplierRow = Row<"suppliers">;

/** A supplier as the operator's commands print it. Its secret never shows. */
export interface Supplier {
  name: string;
  adapter: SupplierAdapter;
  url: string | null;
  /** Whether the address may be one without TLS. */
  insecure: boolean;
  has_secret: boolean;
  to: string | null;
  has_template: boolean;
  updated_at: string;
}

/** The supplier as it is printed. */
export function toSupplier(row: SupplierRow): Supplier {
  return {
    name: row.name,
    adapter: row.adapter,
    url: row.url,
    insecure: row.insecure,
    has_secret: row.secret_sealed !== null,
    to: row.to_address,
    has_template: row.template !== null,
    updated_at: isoTime(row.updated_at),
  };
}

const all = statement((db, t, _slot) => db.select().from(t.suppliers).orderBy(t.suppliers.name));

/** The supplier with this name, or null. */
export function findSupplier(q: Read, name: string): Promise<SupplierRow | null> {
  return findByKey(q, "suppliers", { name });
}

/** The supplier with this name. Throws `not_found`. */
export async function requireSupplier(q: Read, name: string): Promise<SupplierRow> {
  const row = await findSupplier(q, name);
  if (row === null) throw notFound("supplier", name);
  return row;
}

/** All suppliers, by name. */
export async function listSuppliers(q: Read, _input: null): Promise<Supplier[]> {
  return (await all(q, {})).map(toSupplier);
}

/** How to reach a supplier, its secret decrypted. */
export interface SupplierContact {
  name: string;
  adapter: SupplierAdapter;
  url: string | null;
  insecure: boolean;
  secret: Secret | null;
  to: string | null;
  template: string | null;
}

/** Where a supplier's secret is sealed. */
export function supplierSecret(name: string): Cell {
  return { column: "suppliers.secret_sealed", row: name };
}

/** The contact of a supplier; null: it is not set up. */
export async function supplierContact(q: Read, name: string): Promise<SupplierContact | null> {
  const row = await findSupplier(q, name);
  if (row === null) return null;
  const { adapter, url, insecure, secret_sealed, to_address: to, template } = row;
  return {
    name,
    adapter,
    url,
    insecure,
    secret: secret_sealed === null ? null : new Secret(q.vault.open(secret_sealed, supplierSecret(name))),
    to,
    template,
  };
}

import { isoTime } from "../kernel/clock.ts";
import { notFound } from "../kernel/problem.ts";
import { Secret } from "../kernel/secret.ts";
import { currentPauses, type Pause } from "../platform/pauses.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type ProviderAdapter, providerAdapters, type SupplierAdapter } from "../store/schema/values.ts";
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
  /** Why and since when new orders of its products are refused; null: they are accepted. */
  paused: Pick<Pause, "reason" | "since"> | null;
  updated_at: string;
}

function toSupplier(row: SupplierRow, pauses: readonly Pause[]): Supplier {
  const pause = pauses.find(({ kind, name }) => kind === "supplier" && name === row.name);
  return {
    name: row.name,
    adapter: row.adapter,
    url: row.url,
    insecure: row.insecure,
    has_secret: row.secret_sealed !== null,
    to: row.to_address,
    has_template: row.template !== null,
    paused: pause === undefined ? null : { reason: pause.reason, since: pause.since },
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
  const pauses = await currentPauses(q);
  return (await all(q, {})).map((row) => toSupplier(row, pauses));
}

/** One supplier. Throws `not_found`. */
export async function showSupplier(q: Read, name: string): Promise<Supplier> {
  return toSupplier(await requireSupplier(q, name), await currentPauses(q));
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

/** Whether an adapter speaks a provider's own API. */
export function isProvider(adapter: SupplierAdapter): adapter is ProviderAdapter {
  const providers: readonly SupplierAdapter[] = providerAdapters;
  return providers.includes(adapter);
}

/** The names of suppliers whose own API is spoken, in their order. */
export async function listProviders(q: Read, _input: null): Promise<string[]> {
  return (await all(q, {})).flatMap(({ name, adapter }) => (isProvider(adapter) ? [name] : []));
}

/** Where the secret part of a provider's callback path is sealed. */
export function supplierCallback(name: string): Cell {
  return { column: "suppliers.callback_sealed", row: name };
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

/** The secret part of the path that a provider calls back at; null: there is no such provider. */
export async function callbackPath(q: Read, name: string): Promise<Secret | null> {
  const row = await findSupplier(q, name);
  if (row === null || row.callback_sealed === null || !isProvider(row.adapter)) return null;
  return new Secret(q.vault.open(row.callback_sealed, supplierCallback(name)));
}

import { isoTime } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { CarrierAdapter, KycField } from "../store/schema/values.ts";
import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";

export type CarrierRow = Row<"carriers">;

const all = statement((db, t, _slot) => db.select().from(t.carriers).orderBy(t.carriers.prefix));

/** All carriers, by prefix. */
export function carrierRows(q: Read, _input: null = null): Promise<CarrierRow[]> {
  return all(q, {});
}

/** The carrier with exactly this prefix, or null. */
export function carrierByPrefix(q: Read, prefix: string): Promise<CarrierRow | null> {
  return findByKey(q, "carriers", { prefix });
}

/** The carrier with this prefix. Throws `not_found`. */
export async function requireCarrier(q: Read, prefix: string): Promise<CarrierRow> {
  const row = await carrierByPrefix(q, prefix);
  if (row === null) throw new Problem("not_found", `No carrier has the prefix ${prefix}.`);
  return row;
}

/** Where a carrier's secret is sealed. */
export function carrierSecret(prefix: string): Cell {
  return { column: "carriers.secret_sealed", row: prefix };
}

/** The one of these carriers with the longest prefix that an ICCID begins with. */
export function fittingCarrier<C extends { prefix: string }>(carriers: readonly C[], iccid: string): C | undefined {
  const fitting = carriers.filter(({ prefix }) => iccid.startsWith(prefix));
  return fitting.sort((a, b) => b.prefix.length - a.prefix.length)[0];
}

/** The carrier with the longest prefix that an ICCID begins with. Throws `carrier_not_supported`. */
export async function carrierOfIccid(q: Read, iccid: string): Promise<CarrierRow> {
  const rows = await carrierRows(q);
  const longest = fittingCarrier(rows, iccid);
  if (longest !== undefined) return longest;
  throw new Problem("carrier_not_supported", "No supported carrier issues ICCIDs that begin like this one.", {
    members: { carrier: "unknown", supported_carriers: rows.map((row) => row.name) },
  });
}

/** A carrier as the operator's commands print it. Its secret never shows. */
export interface Carrier {
  prefix: string;
  name: string;
  region: string;
  brand: string;
  required_fields: KycField[];
  adapter: CarrierAdapter;
  url: string | null;
  /** Whether the address may be one without TLS. */
  insecure: boolean;
  has_secret: boolean;
  timeout_seconds: number;
  answer_within_hours: number;
  updated_at: string;
}

/** A row as people and programs see it. */
export function toCarrier(row: CarrierRow): Carrier {
  const { prefix, name, region, brand, required_fields, adapter, url, insecure } = row;
  return {
    prefix,
    name,
    region,
    brand,
    required_fields,
    adapter,
    url,
    insecure,
    has_secret: row.secret_sealed !== null,
    timeout_seconds: row.timeout_ms / 1000,
    answer_within_hours: row.answer_within_ms / 3_600_000,
    updated_at: isoTime(row.updated_at),
  };
}

/** All carriers, for the operator. */
export async function listCarriers(q: Read, _input: null): Promise<Carrier[]> {
  return (await carrierRows(q)).map(toCarrier);
}

import { setRow } from "../audit/set-row.ts";
import { exchangeFaults, exchangeNeeds } from "../kernel/adapter-faults.ts";
import { allowsCleartext } from "../kernel/http-url.ts";
import { type FieldErrors, invalid, Problem } from "../kernel/problem.ts";
import { endOutage } from "../platform/outages.ts";
import { type CarrierAdapter, type KycField, kycFields } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { type Carrier, type CarrierRow, carrierByPrefix, carrierSecret, requireCarrier, toCarrier } from "./carrier.ts";
import { ANSWER_WITHIN_MS, EXCHANGE_TIMEOUT_MS } from "./seed.ts";

/** The longest one exchange may be allowed to take; a worker's lease is longer. */
const LONGEST_TIMEOUT_MS = 30_000;

/** What may be said of a carrier; what is left out stays as it is. */
export interface CarrierSettings {
  name?: string | undefined;
  region?: string | undefined;
  brand?: string | undefined;
  required_fields?: string[] | undefined;
  adapter?: CarrierAdapter | undefined;
  /** Null: none. */
  url?: string | null | undefined;
  /** Allows an address beyond this machine without TLS. */
  insecure?: boolean | undefined;
  /** The key of both signatures. */
  secret?: string | undefined;
  timeout_ms?: number | undefined;
  answer_within_ms?: number | undefined;
}

const KEPT = [
  "name",
  "region",
  "brand",
  "required_fields",
  "adapter",
  "url",
  "insecure",
  "timeout_ms",
  "answer_within_ms",
] as const;

/**
 * Adds a carrier, or changes what is named of one. A new one needs a name and a brand; the http adapter needs an
 * address and a secret. Throws `validation`, and `conflict` where it is there and should be new.
 */
export async function setCarrier(
  tx: Tx,
  input: { prefix: string; settings: CarrierSettings; actor: string; isNew?: true },
): Promise<Carrier> {
  const { prefix, settings, actor } = input;
  const before = await carrierByPrefix(tx, prefix);
  if (before !== null && input.isNew) throw new Problem("conflict", `There is a carrier ${prefix} already.`);
  const { row, errors } = merged(tx, prefix, before, settings);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const audit = { actor, action: "carriers.set", targetKind: "carrier", targetId: prefix };
  await setRow(tx, "carriers", { key: { prefix }, before, row, settings, kept: KEPT, audit });
  await endOutage(tx, { kind: "carrier", name: prefix });
  await tx.touch();
  return toCarrier(await requireCarrier(tx, prefix));
}

function merged(
  tx: Tx,
  prefix: string,
  before: CarrierRow | null,
  settings: CarrierSettings,
): { row: CarrierRow; errors: FieldErrors } {
  const { secret, required_fields, ...rest } = settings;
  const row: CarrierRow = {
    prefix,
    name: rest.name ?? before?.name ?? "",
    region: rest.region ?? before?.region ?? "Australia",
    brand: rest.brand ?? before?.brand ?? "",
    required_fields: known(required_fields) ?? before?.required_fields ?? [],
    adapter: rest.adapter ?? before?.adapter ?? "manual",
    ...addressed(before, rest),
    secret_sealed:
      secret === undefined ? (before?.secret_sealed ?? null) : tx.vault.seal(secret, carrierSecret(prefix)),
    timeout_ms: rest.timeout_ms ?? before?.timeout_ms ?? EXCHANGE_TIMEOUT_MS,
    answer_within_ms: rest.answer_within_ms ?? before?.answer_within_ms ?? ANSWER_WITHIN_MS,
    created_at: before?.created_at ?? tx.now,
    updated_at: tx.now,
  };
  return { row, errors: faultsOf(row, settings) };
}

function addressed(before: CarrierRow | null, settings: CarrierSettings): Pick<CarrierRow, "url" | "insecure"> {
  const url = settings.url === undefined ? (before?.url ?? null) : settings.url;
  return { url, insecure: allowsCleartext({ url, before, given: settings }) };
}

function known(fields: string[] | undefined): KycField[] | undefined {
  return fields === undefined ? undefined : kycFields.filter((field) => fields.includes(field));
}

function faultsOf(row: CarrierRow, { required_fields = [], secret }: CarrierSettings): FieldErrors {
  const errors: FieldErrors = {};
  if (!/^\d{1,20}$/.test(row.prefix)) errors.prefix = ["must be 1 to 20 digits"];
  if (row.name.trim() === "") errors.name = ["is required for a new carrier"];
  if (row.brand.trim() === "") errors.brand = ["is required for a new carrier"];
  const names: readonly string[] = kycFields;
  const strange = required_fields.filter((field) => !names.includes(field));
  if (strange.length > 0) errors.required_fields = [`may hold ${kycFields.join(", ")}; not ${strange.join(", ")}`];
  Object.assign(errors, exchangeFaults(row, secret));
  if (row.adapter === "http") Object.assign(errors, exchangeNeeds(row));
  if (row.timeout_ms < 100 || row.timeout_ms > LONGEST_TIMEOUT_MS) errors.timeout = ["must be between 0.1 and 30 s"];
  if (row.answer_within_ms < 1_000) errors.answer_within = ["must be at least a second"];
  return errors;
}

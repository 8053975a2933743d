import { recordAudit } from "../audit/record.ts";
import { isPlainHttpUrl } from "../kernel/http-url.ts";
import { type FieldErrors, invalid } from "../kernel/problem.ts";
import { insertRow, updateRow } from "../store/rows.ts";
import type { SupplierAdapter } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { templateFault } from "./mail-template.ts";
import { findSupplier, requireSupplier, type Supplier, type SupplierRow, toSupplier } from "./supplier.ts";

/** What may be set of a supplier; what is left out stays. */
export interface SupplierSettings {
  adapter?: SupplierAdapter | undefined;
  url?: string | undefined;
  /** The key of both signatures. */
  secret?: string | undefined;
  to?: string | undefined;
  template?: string | undefined;
}

type Written = Omit<SupplierRow, "created_at">;

/**
 * Adds a supplier, or changes what is named of one. The http adapter needs an address and a secret, the email adapter
 * an address to write to. Throws `validation`.
 */
export async function setSupplier(
  tx: Tx,
  input: { name: string; settings: SupplierSettings; actor: string },
): Promise<Supplier> {
  const { name, settings, actor } = input;
  const before = await findSupplier(tx, name);
  const row: Written = {
    name,
    adapter: settings.adapter ?? before?.adapter ?? "email",
    url: settings.url ?? before?.url ?? null,
    secret_sealed: settings.secret === undefined ? (before?.secret_sealed ?? null) : tx.vault.seal(settings.secret),
    to_address: settings.to ?? before?.to_address ?? null,
    template: settings.template ?? before?.template ?? null,
    updated_at: tx.now,
  };
  const errors = faultsOf(row, settings.secret);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  if (before === null) await insertRow(tx, "suppliers", { ...row, created_at: tx.now });
  else await updateRow(tx, "suppliers", { name }, row);
  const fields = Object.entries(settings).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  await recordAudit(tx, { actor, action: "suppliers.set", targetKind: "supplier", targetId: name, fields });
  return toSupplier(await requireSupplier(tx, name));
}

function faultsOf(row: Written, secret: string | undefined): FieldErrors {
  const errors: FieldErrors = {};
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(row.name)) errors.name = ["must be lower-case letters, digits and hyphens"];
  if (secret !== undefined && secret.length < 16) errors.secret = ["must have at least 16 characters"];
  if (row.url !== null && !isPlainHttpUrl(row.url)) errors.url = ["must be an http(s) address without a login"];
  if (row.to_address !== null && !/^[^\s@,;<>]+@[^\s@,;<>]+$/.test(row.to_address)) {
    errors.to = ["must be one e-mail address"];
  }
  const fault = row.template === null ? null : templateFault(row.template);
  if (fault !== null) errors.template = [fault];
  if (row.adapter === "http" && row.url === null) errors.url = ["is needed by the http adapter"];
  if (row.adapter === "http" && row.secret_sealed === null) errors.secret = ["is needed by the http adapter"];
  if (row.adapter === "email" && row.to_address === null) errors.to = ["is needed by the email adapter"];
  return errors;
}

import { setRow } from "../audit/set-row.ts";
import { exchangeFaults, httpNeeds } from "../kernel/adapter-faults.ts";
import { allowsCleartext } from "../kernel/http-url.ts";
import { type FieldErrors, invalid } from "../kernel/problem.ts";
import { endOutage } from "../platform/outages.ts";
import type { SupplierAdapter } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { templateFault } from "./mail-template.ts";
import { findSupplier, type Supplier, type SupplierRow, showSupplier, supplierSecret } from "./supplier.ts";

/** What may be set of a supplier; what is left out stays. */
export interface SupplierSettings {
  adapter?: SupplierAdapter | undefined;
  url?: string | undefined;
  /** Allows an address beyond this machine without TLS. */
  insecure?: boolean | undefined;
  /** The key of both signatures. */
  secret?: string | undefined;
  to?: string | undefined;
  template?: string | undefined;
}

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
  const url = settings.url ?? before?.url ?? null;
  const row: SupplierRow = {
    name,
    adapter: settings.adapter ?? before?.adapter ?? "email",
    url,
    insecure: allowsCleartext({ url, before, given: settings }),
    secret_sealed:
      settings.secret === undefined
        ? (before?.secret_sealed ?? null)
        : tx.vault.seal(settings.secret, supplierSecret(name)),
    to_address: settings.to ?? before?.to_address ?? null,
    template: settings.template ?? before?.template ?? null,
    created_at: before?.created_at ?? tx.now,
    updated_at: tx.now,
  };
  const errors = faultsOf(row, settings.secret);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const audit = { actor, action: "suppliers.set", targetKind: "supplier", targetId: name };
  await setRow(tx, "suppliers", { key: { name }, before, row, settings, kept: ["adapter", "url", "insecure"], audit });
  await endOutage(tx, { kind: "supplier", name });
  return showSupplier(tx, name);
}

function faultsOf(row: SupplierRow, secret: string | undefined): FieldErrors {
  const errors: FieldErrors = {};
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(row.name)) errors.name = ["must be lower-case letters, digits and hyphens"];
  Object.assign(errors, exchangeFaults(row, secret));
  if (row.to_address !== null && !/^[^\s@,;<>]+@[^\s@,;<>]+$/.test(row.to_address)) {
    errors.to = ["must be one e-mail address"];
  }
  const fault = row.template === null ? null : templateFault(row.template);
  if (fault !== null) errors.template = [fault];
  Object.assign(errors, httpNeeds(row));
  if (row.adapter === "email" && row.to_address === null) errors.to = ["is needed by the email adapter"];
  return errors;
}

import { setRow } from "../audit/set-row.ts";
import { exchangeFaults, exchangeNeeds } from "../kernel/adapter-faults.ts";
import { allowsCleartext } from "../kernel/http-url.ts";
import { randomAlphanumeric } from "../kernel/ids.ts";
import { type FieldErrors, invalid, Problem } from "../kernel/problem.ts";
import { endOutage } from "../platform/outages.ts";
import type { ProviderAdapter, SupplierAdapter } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { templateFault } from "./mail-template.ts";
import {
  findSupplier,
  isProvider,
  type Supplier,
  type SupplierRow,
  showSupplier,
  supplierCallback,
  supplierSecret,
} from "./supplier.ts";

/** Where providers have their APIs. */
const providerUrls: Readonly<Record<ProviderAdapter, string>> = {
  esimaccess: "https://api.esimaccess.com/api/v1/open",
  airalo: "https://partners-api.airalo.com/v2",
  esimgo: "https://api.esim-go.com/v2.5",
};

/** What a provider's secret consists of. */
const secretForms: Readonly<Record<ProviderAdapter, { form: RegExp; words: string }>> = {
  esimaccess: { form: /^[^\s:]+:[^\s:]+$/, words: "must be ACCESSCODE:SECRETKEY" },
  airalo: { form: /^[^\s:]+:[^\s:]+$/, words: "must be CLIENT_ID:CLIENT_SECRET" },
  esimgo: { form: /^\S+$/, words: "must be the API key" },
};

const ADDED = {
  callback_sealed: null,
  markup_points: null,
  sku_prefix: null,
  synced_at: null,
  balance: null,
  balance_currency: null,
  balance_at: null,
};

/** The balance below which a provider is not bought from until the operator says otherwise: 20.0000. */
const LOW_BALANCE = 200_000;

/** The secret part of the path that a provider calls back at: 206 bits. */
function newPath(tx: Tx): string {
  return randomAlphanumeric(tx.ids, 40);
}

/** What may be set of a supplier; what is left out stays. */
export interface SupplierSettings {
  adapter?: SupplierAdapter | undefined;
  /** Null: the provider's own, or none. */
  url?: string | null | undefined;
  /** Allows an address beyond this machine without TLS. */
  insecure?: boolean | undefined;
  /** The key of both signatures; of a provider its credential. */
  secret?: string | undefined;
  /** The balance below which nothing more is bought of a provider (1/10,000); null: none. */
  lowBalance?: number | null | undefined;
  /** Null: none. */
  to?: string | null | undefined;
  template?: string | undefined;
}

/**
 * Adds a supplier, or changes what is named of one. The http adapter needs an address and a secret, the email adapter
 * an address to write to, a provider its secret. What it was reached by is forgotten with its adapter. Throws
 * `validation`, and `conflict` where it is there and should be new.
 */
export async function setSupplier(
  tx: Tx,
  input: { name: string; settings: SupplierSettings; actor: string; isNew?: true },
): Promise<Supplier> {
  const { name, settings, actor } = input;
  const before = await findSupplier(tx, name);
  if (before !== null && input.isNew) throw new Problem("conflict", `There is a supplier ${name} already.`);
  const row = rowOf(tx, name, { before, settings });
  const errors = faultsOf(row, settings.secret);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const audit = { actor, action: "suppliers.set", targetKind: "supplier", targetId: name };
  await setRow(tx, "suppliers", { key: { name }, before, row, settings, kept: ["adapter", "url", "insecure"], audit });
  await endOutage(tx, { kind: "supplier", name });
  return showSupplier(tx, name);
}

interface Change {
  before: SupplierRow | null;
  settings: SupplierSettings;
}

/** The supplier as it is to be. */
function rowOf(tx: Tx, name: string, { before, settings }: Change): SupplierRow {
  const adapter = settings.adapter ?? before?.adapter ?? "email";
  const changes = before !== null && before.adapter !== adapter && (isProvider(before.adapter) || isProvider(adapter));
  const known = changes ? null : before;
  const own = isProvider(adapter) ? providerUrls[adapter] : null;
  const url = (settings.url === undefined ? known?.url : settings.url) ?? own;
  const { secret, lowBalance } = settings;
  const row: SupplierRow = {
    ...(before ?? { ...ADDED, name, created_at: tx.now }),
    ...(changes ? ADDED : {}),
    adapter,
    url,
    insecure: allowsCleartext({ url, before: known, given: settings }),
    secret_sealed: secret === undefined ? (known?.secret_sealed ?? null) : tx.vault.seal(secret, supplierSecret(name)),
    to_address: settings.to === undefined ? (before?.to_address ?? null) : settings.to,
    template: settings.template ?? before?.template ?? null,
    low_balance:
      lowBalance === undefined
        ? (known ?? { low_balance: isProvider(adapter) ? LOW_BALANCE : null }).low_balance
        : lowBalance,
    updated_at: tx.now,
  };
  if (isProvider(adapter)) row.callback_sealed ??= tx.vault.seal(newPath(tx), supplierCallback(name));
  return row;
}

function faultsOf(row: SupplierRow, secret: string | undefined): FieldErrors {
  const errors: FieldErrors = {};
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(row.name)) errors.name = ["must be lower-case letters, digits and hyphens"];
  const { adapter } = row;
  if (isProvider(adapter)) {
    const { form, words } = secretForms[adapter];
    Object.assign(errors, exchangeFaults(row, undefined), exchangeNeeds(row));
    if (secret !== undefined && !form.test(secret)) errors.secret = [words];
  } else {
    Object.assign(errors, exchangeFaults(row, secret));
    if (adapter === "http") Object.assign(errors, exchangeNeeds(row));
    if (row.low_balance !== null) errors.low_balance = ["is for providers whose balance can be asked for"];
  }
  if (row.to_address !== null && !/^[^\s@,;<>]+@[^\s@,;<>]+$/.test(row.to_address)) {
    errors.to = ["must be one e-mail address"];
  }
  const fault = row.template === null ? null : templateFault(row.template);
  if (fault !== null) errors.template = [fault];
  if (adapter === "email" && row.to_address === null) errors.to = ["is needed by the email adapter"];
  return errors;
}

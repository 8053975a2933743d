import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import { parseMoney } from "../kernel/money.ts";
import { networkOf, networkText } from "../kernel/networks.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { recountSpending } from "../orders/spend.ts";
import { updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { SpendCap } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { type Credential, requireCredential, showCredential } from "./credential.ts";

/** The guard rails to be changed; what is left out stays, null takes a guard rail away. */
export interface GuardRailsChange {
  clientId: string;
  /** Networks in CIDR notation, or single addresses. */
  addresses?: readonly string[] | null;
  /** From when on it is invalid (ms). */
  expiresAt?: number | null;
  /** The currency that `perOrder` and `perDay` are of; null: every currency without a cap of its own. */
  currency?: string | null;
  /** Decimals in the currency's own units. */
  perOrder?: string | null;
  perDay?: string | null;
  /** Whether it may handle identities. */
  identity?: boolean;
  actor: string;
}

const MOST_NETWORKS = 100;
/** The largest amount of any currency that can be counted exactly has this many digits at least. */
const DECIMAL = /^\d{1,12}(\.\d{1,4})?$/;

/**
 * Changes what restricts a credential, from its next request on. A cap per day counts all orders of today. Throws
 * `not_found`, `validation`, `conflict` for one that has the guard rails of another.
 */
export async function updateCredential(tx: Tx, change: GuardRailsChange): Promise<Credential> {
  const row = await requireCredential(tx, change.clientId);
  if (row.guarded_by !== null) {
    const words = `${row.client_id} has the guard rails of ${row.guarded_by}, which created it; change those.`;
    throw new Problem("conflict", words);
  }
  const changed = {
    ...(change.addresses === undefined ? {} : { allowed_addresses: networksOf(change.addresses) }),
    ...(change.expiresAt === undefined ? {} : { expires_at: change.expiresAt }),
    ...(change.identity === undefined ? {} : { no_identity: !change.identity }),
    ...(change.perOrder === undefined && change.perDay === undefined ? {} : { spend_caps: capsAfter(row, change) }),
  };
  await updateRow(tx, "credentials", { client_id: row.client_id }, changed);
  if ("spend_caps" in changed) await recountSpending(tx, row);
  // The names of what was given, and their values as one text each.
  const fields = Object.keys(changed) as (keyof typeof changed)[];
  await recordAudit(tx, {
    actor: change.actor,
    action: "credentials.update",
    targetKind: "credential",
    targetId: row.client_id,
    partnerId: row.partner_id,
    fields,
    changes: changesOf<object>(textsOf(row), textsOf({ ...row, ...changed }), fields as never[]),
  });
  await tx.touch();
  return showCredential(tx, row.client_id);
}

/** The guard rails of a row as the audit trail keeps them. */
function textsOf({ allowed_addresses, expires_at, spend_caps, no_identity }: Row<"credentials">) {
  const caps = (spend_caps ?? []).map(
    ({ currency, per_order, per_day }) =>
      `${currency ?? "any"} ${per_order ?? "-"} per order, ${per_day ?? "-"} per day`,
  );
  return { allowed_addresses, expires_at, no_identity, spend_caps: spend_caps === null ? null : caps };
}

function networksOf(addresses: readonly string[] | null): string[] | null {
  if (addresses === null) return null;
  const wrong = addresses.filter((one) => networkOf(one) === null);
  if (wrong.length > 0) {
    const words = `must be addresses or networks such as 203.0.113.0/24 or 2001:db8::/32, not "${wrong.join(", ")}"`;
    throw invalid({ ip: [words] });
  }
  const networks = [...new Set(addresses.flatMap((one) => networkOf(one) ?? []).map(networkText))];
  if (networks.length === 0 || networks.length > MOST_NETWORKS) {
    throw invalid({ ip: [`must name 1 to ${MOST_NETWORKS} networks`] });
  }
  return networks;
}

/** The caps with those of one currency changed; null: none is left. */
function capsAfter({ spend_caps }: Row<"credentials">, change: GuardRailsChange): SpendCap[] | null {
  const { currency = null, perOrder, perDay } = change;
  const before = spend_caps ?? [];
  const own = before.find((cap) => cap.currency === currency) ?? { currency, per_order: null, per_day: null };
  const after: SpendCap = {
    currency,
    per_order: perOrder === undefined ? own.per_order : amountOf(perOrder, currency, "per_order"),
    per_day: perDay === undefined ? own.per_day : amountOf(perDay, currency, "per_day"),
  };
  const others = before.filter((cap) => cap.currency !== currency);
  const empty = after.per_order === null && after.per_day === null;
  const caps = empty ? others : [...others, after].sort((a, b) => ((a.currency ?? "") < (b.currency ?? "") ? -1 : 1));
  return caps.length === 0 ? null : caps;
}

function amountOf(text: string | null, currency: string | null, field: string): string | null {
  if (text === null) return null;
  if (!DECIMAL.test(text)) throw invalid({ [field]: [`must be a plain decimal such as 200.00, not "${text}"`] });
  if (currency !== null) parseMoney(text, currency, field);
  return text;
}

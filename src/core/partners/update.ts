import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import { type FieldErrors, invalid } from "../kernel/problem.ts";
import { requirePriceList } from "../prices/lists.ts";
import { updateRow } from "../store/rows.ts";
import type { FieldChange } from "../store/schema/values.ts";
import {
  MOST_PER_MINUTE,
  type PartnerBound,
  type PartnerStatus,
  partnerBounds,
  type Tier,
} from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { type NewCreditLine, setCreditLine } from "./credit-line.ts";
import { type Partner, partnerById, requirePartner, wholePartner } from "./partner.ts";
import { changeThresholds, type ThresholdChange } from "./thresholds.ts";

/** What to change about a partner; what is left out stays. */
export interface PartnerChange {
  slug: string;
  tier?: Tier;
  agent?: boolean;
  /** Taking production away makes live credentials invalid at once, until it is given back. */
  production?: boolean;
  /** Requests a minute and client id; null goes back to the tier's. */
  rateLimit?: number | null;
  /** Bounds; null goes back to the default. What is there already stays, however much it is. */
  bounds?: Bounds;
  /** Whether its sandbox credentials may submit activation requests. */
  sandboxActivations?: boolean;
  /** How its customers reach it, as install pages say it; null: no word on it. */
  support?: string | null;
  thresholds?: ThresholdChange;
  /** What its orders may draw in one currency. */
  creditLine?: NewCreditLine;
  /** Whose prices it has from now on; null: the catalog's. */
  priceList?: string | null;
  actor: string;
}

const LONGEST_SUPPORT = 200;

type Bounds = Partial<Record<PartnerBound, number | null>>;

interface Columns extends Record<PartnerBound, number | null> {
  tier: Tier;
  agent: boolean;
  production: boolean;
  rate_limit: number | null;
  sandbox_activations: boolean;
  status: PartnerStatus;
  suspended_reason: string | null;
  support: string | null;
  price_list: string | null;
  low_wallet: Record<string, number> | null;
  low_data: number[] | null;
  expiry_days: number[] | null;
}

/**
 * Changes what is given, leaves the rest. Throws `not_found` of the partner or the list, `validation` for a number out
 * of its range.
 */
export async function updatePartner(tx: Tx, input: PartnerChange): Promise<Partner> {
  const { slug, actor, rateLimit, bounds = {}, sandboxActivations: sandbox_activations, ...others } = input;
  const { thresholds, creditLine, priceList: price_list, ...rest } = others;
  const ofLimits = typeof rateLimit !== "number" || (Number.isInteger(rateLimit) && rateLimit >= 1);
  if (!ofLimits || (rateLimit ?? 0) > MOST_PER_MINUTE) {
    throw invalid({ rate_limit: [`must be a whole number from 1 to ${MOST_PER_MINUTE}`] });
  }
  refuseBounds(bounds);
  if ((others.support?.length ?? 0) > LONGEST_SUPPORT) {
    throw invalid({ support: [`must be at most ${LONGEST_SUPPORT} characters`] });
  }
  if (typeof price_list === "string") await requirePriceList(tx, price_list);
  const changed = {
    ...rest,
    price_list,
    ...bounds,
    sandbox_activations,
    ...(thresholds === undefined ? {} : await changeThresholds(tx, await requirePartner(tx, slug), thresholds)),
    ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
  };
  const credit =
    creditLine === undefined ? [] : await setCreditLine(tx, (await requirePartner(tx, slug)).id, creditLine);
  return changePartner(tx, slug, definedOnly(changed), { actor, action: "partners.update", more: credit });
}

/** How the audit trail names a change, and what was changed beside the partner's columns. */
interface Recorded {
  actor: string;
  action: string;
  more?: readonly FieldChange[];
}

/** Writes columns of a partner and the line of the audit trail. Throws `not_found`. */
export async function changePartner(
  tx: Tx,
  slug: string,
  changed: Partial<Columns>,
  { actor, action, more = [] }: Recorded,
): Promise<Partner> {
  const row = await requirePartner(tx, slug);
  await updateRow(tx, "partners", { id: row.id }, { ...changed, updated_at: tx.now });
  const given = Object.entries(changed).map(([field]) => field as keyof Columns);
  const about = { targetKind: "partner", targetId: row.id, partnerId: row.id };
  const fields = [...given, ...more.map(({ field }) => field)];
  const changes = [...changesOf(row, changed, given), ...more];
  await recordAudit(tx, { actor, action, ...about, fields, changes });
  await tx.touch();
  return wholePartner(tx, await partnerById(tx, row.id));
}

function refuseBounds(bounds: Bounds): void {
  const errors: FieldErrors = {};
  for (const [name, { most }] of Object.entries(partnerBounds)) {
    const value = bounds[name as PartnerBound] ?? 0;
    if (Number.isInteger(value) && value >= 0 && value <= most) continue;
    errors[name] = [`must be a whole number from 0 to ${most}`];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
}

function definedOnly(changed: { [K in keyof Columns]?: Columns[K] | undefined }): Partial<Columns> {
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
}

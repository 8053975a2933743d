import { requireUnits } from "../esims/synthetic.ts";
import { formatMoney } from "../kernel/money.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import { together } from "../kernel/together.ts";
import { limitsOfPartner } from "../platform/partner-limits.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import { readSetting } from "../platform/settings.ts";
import type { Traveler } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { type ActivationRequest, matchRequests } from "./activation-requests.ts";
import { type Budget, type GuardRails, guardRails, refusePausedSupplier, refuseWhilePaused } from "./guard-rails.ts";
import {
  type FindProduct,
  type FoundProducts,
  findProducts,
  type PricedLine,
  type PricedOrder,
  priceLines,
  sellLines,
} from "./price-lines.ts";
import { requireWithinCaps } from "./spend.ts";

/** What an order asks for, as far as it is assessed. */
export interface AskedOrder extends Owner {
  lines: { product_id: string; quantity: number }[];
  /** One for each unit of a product that a supplier delivers to a traveler. */
  activationRequests: ActivationRequest[];
  /** The highest total that its buyer accepts, in minor units; left out or null: any. */
  maxTotal?: number | null;
  /** The client ID of the credential that places it, whose caps hold; left out or null: an operator. */
  credential?: string | null;
}

/** An order that may be placed if the wallet can pay for it. */
export interface AssessedOrder {
  priced: PricedOrder;
  /** By line: who gets its units; none where units are not for travelers. */
  travelers: Traveler[][];
  /** The caps that it counts against; null: none. */
  budget: Budget | null;
}

/** What orders that were assessed before, and are not written, change for the next one. */
export interface Ahead {
  /** Units of sandbox orders. */
  units: number;
  /** What they spend, by currency in minor units. */
  spent?: ReadonlyMap<string, number>;
  findProduct?: FindProduct;
}

/**
 * Prices an order and refuses what cannot be ordered. All refusals of an order are here, for creating and for
 * quoting it; only those of its key and of too little money come before and after. Reads only. Throws `paused`,
 * `validation` for products and activation requests, `invalid_activation_date`, `price_changed`, `conflict` when the
 * sandbox has no ICCIDs left, and `spend_cap_exceeded`.
 */
export async function assessOrder(q: Read, asked: AskedOrder, ahead: Ahead = { units: 0 }): Promise<AssessedOrder> {
  return assessFound(q, asked, await lookUpOrder(q, asked, ahead.findProduct), ahead);
}

/** What an order is assessed by, whatever it asks for. */
export interface LookedUp {
  rails: GuardRails;
  found: FoundProducts;
}

/** Looks up what an order is assessed by. Refuses nothing: a replay of its key comes first. */
export async function lookUpOrder(q: Read, asked: AskedOrder, findProduct?: FindProduct): Promise<LookedUp> {
  const { credential = null, partnerId } = asked;
  const buyer = { credential, partnerId };
  const [rails, found] = await together(guardRails.get(q, buyer), findProducts(q, asked.lines, findProduct));
  return { rails, found };
}

/** Assesses an order as `assessOrder` does, by what was looked up for it. */
export async function assessFound(
  q: Read,
  asked: AskedOrder,
  { rails, found }: LookedUp,
  ahead: Ahead = { units: 0 },
): Promise<AssessedOrder> {
  refuseWhilePaused(rails);
  const priced = priceLines(asked.lines, await sellLines(q, asked.lines, { found, priceList: rails.priceList }));
  refusePausedSupplier(rails, priced.lines);
  const travelers = await travelersOf(q, priced.lines, asked);
  refuseDearer(priced, asked.maxTotal ?? null);
  if (asked.environment === "sandbox") await requireUnits(q, ahead.units + priced.quantity);
  const { budget } = rails;
  const { currency, total } = priced;
  const purchase = { environment: asked.environment, currency, total };
  if (budget !== null) await requireWithinCaps(q, budget, purchase, ahead.spent?.get(currency));
  return { priced, travelers, budget };
}

async function travelersOf(q: Read, lines: PricedLine[], asked: AskedOrder): Promise<Traveler[][]> {
  const { partnerId, activationRequests: requests } = asked;
  // Few orders have any: the others skip the setting and the bound.
  if (requests.length === 0) return matchRequests(lines, [], { now: q.now, strictEid: false, daysAhead: null });
  const strictEid = (await readSetting(q, "strict_eid")) === "yes";
  const { max_days_ahead: daysAhead } = await limitsOfPartner(q, partnerId);
  return matchRequests(lines, requests, { now: await nowOf(q, asked), strictEid, daysAhead });
}

function refuseDearer({ total, currency }: PricedOrder, maxTotal: number | null): void {
  if (maxTotal === null || total <= maxTotal) return;
  const [now, most] = [total, maxTotal].map((cents) => formatMoney(cents, currency));
  throw new Problem("price_changed", `The order costs ${now} ${currency}, more than ${most} ${currency}.`, {
    members: { total_price_cents: total, max_total_cents: maxTotal, currency },
  });
}

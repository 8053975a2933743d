import { and, desc, eq, lte } from "drizzle-orm";
import { changesOf } from "../audit/changes.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import { isoTime } from "../kernel/clock.ts";
import { dateFault } from "../kernel/dated.ts";
import { currencyDecimals } from "../kernel/money.ts";
import { type FieldErrors, invalid } from "../kernel/problem.ts";
import { together } from "../kernel/together.ts";
import { loader } from "../store/batch-context.ts";
import { insert } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Rate } from "./price.ts";

/** Two currencies and a UTC day. */
export interface RateKey {
  from: string;
  to: string;
  day: string;
}

const newest = statement((db, { fxRates: fx }, slot: Slots<RateKey>) =>
  db
    .select({ from_currency: fx.from_currency, to_currency: fx.to_currency, day: fx.day, rate: fx.rate })
    .from(fx)
    .where(and(eq(fx.from_currency, slot.from), eq(fx.to_currency, slot.to), lte(fx.day, slot.day)))
    .orderBy(desc(fx.day))
    .limit(1),
);

/** The rate that holds on a day; null: none is known. */
export const currentRates = loader<RateKey, Rate | null>({
  name: ({ from, to, day }) => `${from} ${to} ${day}`,
  loadMany: async (q, keys) => (await together(...keys.map((key) => newest(q, { ...key })))).map(first),
});

/** Units of `to` for one of `from` on this UTC day, as a decimal; null: no rate is known. */
export async function rateToday(q: Read, from: string, to: string): Promise<string | null> {
  if (from === to) return "1";
  return (await currentRates.get(q, { from, to, day: isoTime(q.now).slice(0, 10) }))?.rate ?? null;
}

/** A rate as the operator's commands print it. */
export interface FxRate {
  from_currency: string;
  to_currency: string;
  /** Units of `to_currency` for one of `from_currency`: a plain decimal. */
  rate: string;
  /** The first UTC day that it holds on. */
  from: string;
}

function toFxRate({ from_currency, to_currency, rate, day }: Rate): FxRate {
  return { from_currency, to_currency, rate, from: day };
}

const all = statement((db, { fxRates: fx }, _slot) =>
  db.select().from(fx).orderBy(fx.from_currency, fx.to_currency, desc(fx.day)),
);

/** Every rate, those of two currencies together, the newest day first. */
export async function listRates(q: Read, _input: null): Promise<FxRate[]> {
  return (await all(q, {})).map(toFxRate);
}

const onDay = statement((db, { fxRates: fx }, slot: Slots<RateKey>) =>
  db
    .select()
    .from(fx)
    .where(and(eq(fx.from_currency, slot.from), eq(fx.to_currency, slot.to), eq(fx.day, slot.day))),
);

const write = statement((db, { fxRates: fx }, slot: Slots<RateKey & { rate: string }>) =>
  db
    .update(fx)
    .set({ rate: slot.rate })
    .where(and(eq(fx.from_currency, slot.from), eq(fx.to_currency, slot.to), eq(fx.day, slot.day))),
);

/** A rate to be set; `day` left out: it holds from today on. */
export interface NewRate {
  from: string;
  to: string;
  rate: string;
  day?: string | undefined;
  actor: Actor;
}

/** Sets what one currency is in another from a UTC day on; once more for that day replaces it. Throws `validation`. */
export async function setRate(tx: Tx, { from, to, rate, day: asked, actor }: NewRate): Promise<FxRate> {
  const day = asked ?? isoTime(tx.now).slice(0, 10);
  refuseRate({ from, to, rate, day });
  const key = { from, to, day };
  const before = first(await onDay(tx, key));
  const row: Row<"fxRates"> = { from_currency: from, to_currency: to, day, rate, created_at: tx.now };
  if (before === null) await insert(tx, "fxRates", [row]);
  else await write(tx, { ...key, rate });
  const about = { targetKind: "fx_rate", targetId: `${from} ${to} ${day}` };
  const changes = changesOf<Row<"fxRates">>(before, row, ["rate"]);
  await recordAudit(tx, { actor, action: "fx.set", ...about, fields: ["rate"], changes });
  await tx.touch();
  return toFxRate(row);
}

function refuseRate({ from, to, rate, day }: RateKey & { rate: string }): void {
  const errors: FieldErrors = {};
  for (const [field, code] of Object.entries({ from_currency: from, to_currency: to })) {
    if (currencyDecimals(code) === null) {
      errors[field] = [`must be an ISO 4217 currency code such as AUD, not "${code}"`];
    }
  }
  if (from === to) errors.to_currency = [`must be another currency than ${from}`];
  if (!/^\d{1,9}(\.\d{1,10})?$/.test(rate) || Number(rate) === 0) {
    errors.rate = [`must be a plain decimal above 0 with at most 10 decimals such as 1.52, not "${rate}"`];
  }
  const fault = dateFault(day);
  if (fault !== null) errors.from = [fault];
  if (Object.keys(errors).length > 0) throw invalid(errors);
}

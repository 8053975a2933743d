import { type TSchema, Type } from "typebox";
import type { Cost } from "../../../../core/kernel/brand.ts";
import { readCost } from "../../../../core/kernel/cost.ts";

/** What accounts pay in, and what costs are counted in here. */
export const CURRENCY = "USD";

/** A field that may be missing or null. */
export function Maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Ids and amounts come as numbers, in lists also as texts. */
export const TextOrNumber = Type.Union([Type.String(), Type.Number()]);

/** Prices by currency. An empty table comes as a list. */
export const Prices = Type.Union([Type.Record(Type.String(), Maybe(TextOrNumber)), Type.Array(Type.Unknown())]);

/** An amount of money; null: there is none. */
export function costIn(amount: string | number | null | undefined): Cost | null {
  return amount === null || amount === undefined ? null : readCost(amount);
}

/** A moment such as "2026-03-02 09:30:00", which has no zone and is taken as UTC; null: it is none. */
export function momentOf(text: string | null | undefined): number | null {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)$/.exec(text ?? "") ?? [];
  const at = Date.parse(day === undefined ? (text ?? "") : `${day}T${time}Z`);
  return Number.isNaN(at) ? null : at;
}

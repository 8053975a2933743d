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

/** An amount of money; null: there is none. */
export function costIn(amount: string | number | null | undefined): Cost | null {
  return amount === null || amount === undefined ? null : readCost(amount);
}

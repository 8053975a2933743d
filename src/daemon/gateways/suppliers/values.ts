import { type TSchema, Type } from "typebox";
import type { Cost } from "../../../core/kernel/brand.ts";
import { costOf, formatCost, readCost } from "../../../core/kernel/cost.ts";
import type { Step } from "../../../core/supply/provider.ts";

/** A field that may be missing or null: providers do both. */
export function Maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Fields of one kind that may be missing or null, by their names. */
export function maybe<Schema extends TSchema, const Name extends string>(schema: Schema, ...names: Name[]) {
  const fields = Object.fromEntries(names.map((name) => [name, Maybe(schema)]));
  return fields as Record<Name, ReturnType<typeof Maybe<Schema>>>; // made of these names
}

/** Ids and amounts come as numbers, and as texts. */
export const TextOrNumber = Type.Union([Type.String(), Type.Number()]);

/** How many there are. */
export const Count = Type.Integer({ minimum: 0 });

/** The code of a currency. */
export const Currency = Type.String({ pattern: "^[A-Za-z]{3}$" });

/** An amount of money in whole units; null: there is none. */
export function costIn(amount: string | number | null | undefined): Cost | null {
  return amount === null || amount === undefined ? null : readCost(amount);
}

/** The refusal of a plan that costs more than it should; null: it does not, or is not known to. */
export function dearer(should: Cost | null, cost: Cost | null): Extract<Step, { kind: "refused" }> | null {
  if (should === null || cost === null || cost <= should) return null;
  const detail = `it costs ${formatCost(cost)} by now, and ${formatCost(should)} by its source: sync its catalog`;
  return { kind: "refused", code: "price", message: "The price is another one now.", detail, because: "plan" };
}

/** A cost as a memory notes it. */
export function notedCost(cost: number | null | undefined): Cost | null {
  return typeof cost === "number" ? costOf(cost) : null;
}

/** The texts that there are. */
export function present(texts: readonly (string | false | null | undefined)[]): string[] {
  return texts.flatMap((text) => text || []);
}

/** Each text once, sorted. */
export function distinct(texts: readonly (string | null | undefined)[]): string[] {
  return [...new Set(present(texts))].sort();
}

/** A moment (ms), as itself, as ISO 8601 or with a blank in its middle; without an offset it is UTC. Null: none. */
export function momentOf(shown: string | number | null | undefined): number | null {
  const [, date, time = "T00:00:00", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/.exec(String(shown ?? "").trim()) ?? [];
  const at = typeof shown === "number" ? shown : Date.parse(`${date}${time.replace(" ", "T")}${zone}`);
  // One that is not set may be shown as one of the year 1.
  return at > 0 ? at : null;
}

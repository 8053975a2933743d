import { type TSchema, Type } from "typebox";
import type { Cost } from "../../../core/kernel/brand.ts";
import { costOf } from "../../../core/kernel/cost.ts";

/** A field that may be missing or null: providers do both. */
function Maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Fields of one kind that may be missing or null, by their names. */
export function maybe<Schema extends TSchema, const Name extends string>(schema: Schema, ...names: Name[]) {
  const fields = Object.fromEntries(names.map((name) => [name, Maybe(schema)]));
  return fields as Record<Name, ReturnType<typeof Maybe<Schema>>>; // made of these names
}

/** A cost as a memory notes it. */
export function notedCost(cost: number | null): Cost | null {
  return cost === null ? null : costOf(cost);
}

/** Each text once, sorted; what is no text is left out. */
export function distinct(texts: readonly (string | null | undefined)[]): string[] {
  return [...new Set(texts.flatMap((text) => text || []))].sort();
}

/** A moment (ms) as ISO 8601 or with a blank in its middle; without an offset it is UTC. Null: none. */
export function momentOf(text: string | null | undefined): number | null {
  const [, date, time = "T00:00:00", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/.exec(text?.trim() ?? "") ?? [];
  const at = Date.parse(`${date}${time.replace(" ", "T")}${zone}`);
  // One that is not set may be shown as one of the year 1.
  return at > 0 ? at : null;
}

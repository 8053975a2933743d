import type { FieldChange } from "../store/schema/values.ts";

type Value = FieldChange["from"];

/**
 * What `change` does to `before`, for the fields named: they must be none of identity data, of secrets or of free text.
 * A list is one text.
 */
export function changesOf<T extends object>(
  before: Partial<T> | null,
  change: Partial<T>,
  fields: readonly (keyof T & string)[],
): FieldChange[] {
  return fields.flatMap((field) => {
    if (change[field] === undefined) return [];
    const [from, to] = [keptOf(before?.[field]), keptOf(change[field])];
    return from === to ? [] : [{ field, from, to }];
  });
}

function keptOf(given: unknown): Value {
  if (given === undefined || given === null) return null;
  if (typeof given === "number" || typeof given === "boolean" || typeof given === "string") return given;
  return Array.isArray(given) ? given.join(", ") : JSON.stringify(given);
}

import { instantOf } from "../../core/kernel/clock.ts";
import { type FieldErrors, invalid } from "../../core/kernel/problem.ts";

/** The times of a query by name (ms); none where it has none. Throws `validation` for one that no clock shows. */
export function timesIn(query: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, number> {
  const errors: FieldErrors = {};
  const times = new Map<string, number>();
  for (const [field, text] of Object.entries(query)) {
    if (text === undefined) continue;
    const at = instantOf(text);
    if (at === null) errors[field] = ["must be a time as 2026-03-01T09:30:00Z"];
    else times.set(field, at);
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return times;
}

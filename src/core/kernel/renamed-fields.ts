import { invalid, Problem } from "./problem.ts";

/**
 * A refusal whose fields have the names under which they were typed or filled in: `names` has these by the names of
 * core or the API. Any other error is returned as it is.
 */
export function withFieldNames(error: unknown, names: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof Problem) || error.errors === undefined) return error;
  const { slug, message, members } = error;
  const renamed = Object.entries(error.errors).map(([field, words]) => [names[field] ?? field, words] as const);
  const errors = Object.fromEntries(renamed);
  return slug === "validation" ? invalid(errors, members) : new Problem(slug, message, { errors, members });
}

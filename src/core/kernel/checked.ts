import type { FieldErrors } from "./problem.ts";

/** The result of a check: the value as it is to be used, or what is wrong with it, all of it. */
export type Checked<T, P = readonly string[]> = { ok: T } | { problems: P };

/** Field errors as sentences: "passport_no is required". */
export function fieldSentences(errors: FieldErrors): string[] {
  return Object.entries(errors).flatMap(([field, words]) => words.map((one) => `${field} ${one}`));
}

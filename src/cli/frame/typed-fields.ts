import { invalid, Problem } from "../../core/kernel/problem.ts";
import type { Command } from "./command.ts";

/** A refusal by core, its fields named as they were typed. Any other error is returned as it is. */
export function asTyped(error: unknown, { fields = {} }: Command): unknown {
  if (!(error instanceof Problem) || error.errors === undefined) return error;
  if (!Object.keys(error.errors).some((field) => field in fields)) return error;
  const typed = Object.entries(error.errors).map(([field, words]) => [fields[field] ?? field, words] as const);
  return invalid(Object.fromEntries(typed), error.members);
}

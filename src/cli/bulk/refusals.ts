import { fieldSentences } from "../../core/kernel/checked.ts";
import { Problem } from "../../core/kernel/problem.ts";

/** The sentences with which a check refuses, field by field where it names them; none: it passes. */
export function refusalsOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.errors === undefined ? [error.message] : fieldSentences(error.errors);
  }
}

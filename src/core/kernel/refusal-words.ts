import { fieldSentences } from "./checked.ts";
import type { Problem } from "./problem.ts";

/** A refusal in one text that names every wrong field: for one line among many. */
export function refusalWords({ message, errors = {} }: Pick<Problem, "message" | "errors">): string {
  const sentences = fieldSentences(errors);
  return sentences.length > 0 ? `${sentences.join("; ")}.` : message;
}

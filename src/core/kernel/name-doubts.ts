import { isPlaceholder } from "./damaged-text.ts";

/** What is doubtful about names that are taken all the same: words that only say that there is none. */
export function nameDoubts(values: { first_name?: string | null; last_name?: string | null }): string[] {
  return (["first_name", "last_name"] as const)
    .filter((field) => isPlaceholder(values[field] ?? ""))
    .map((field) => `${field} is a word for no value: a holder with one name has - as last_name`);
}

import { usageError } from "./errors.ts";

/** What a change of fields is made of. */
interface Change {
  /** The fields that `--clear` can name. */
  clearable: readonly string[];
  /** The values that are set, by field; left out: undefined. */
  set: Readonly<Record<string, unknown>>;
}

/**
 * What `--clear` names, as a PATCH of the API clears it. Throws a usage error for a field that cannot be emptied, and
 * for one that is set beside it.
 */
export function clearedFields(fields: string | undefined, { clearable, set }: Change): Record<string, null> {
  const names = fields?.split(",").map((name) => name.trim().toLowerCase().replaceAll("-", "_")) ?? [];
  const wrong = names.find((name) => !clearable.includes(name));
  if (wrong !== undefined) throw usageError(`--clear cannot empty "${wrong}".`, `It empties ${clearable.join(", ")}.`);
  const both = names.find((name) => set[name] !== undefined);
  if (both !== undefined) {
    const option = `--${both.replaceAll("_", "-")}`;
    throw usageError(`${option} and --clear ${both} exclude each other.`, "Give one of them.");
  }
  return Object.fromEntries(names.map((name) => [name, null]));
}

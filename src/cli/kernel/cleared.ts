import { usageError } from "./errors.ts";

/** What `--clear` names, as a PATCH of the API clears it. Throws a usage error for a field that cannot be emptied. */
export function clearedFields(fields: string | undefined, clearable: readonly string[]): Record<string, null> {
  const names = fields?.split(",").map((name) => name.trim().toLowerCase().replaceAll("-", "_")) ?? [];
  const wrong = names.find((name) => !clearable.includes(name));
  if (wrong !== undefined) throw usageError(`--clear cannot empty "${wrong}".`, `It empties ${clearable.join(", ")}.`);
  return Object.fromEntries(names.map((name) => [name, null]));
}

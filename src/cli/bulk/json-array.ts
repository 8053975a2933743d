import type { Readable } from "node:stream";
import { CliError } from "../kernel/errors.ts";
import { readBounded } from "../kernel/read-bounded.ts";

/** Held whole while it is read: larger files belong into CSV, which is streamed. */
const MOST_MIB = 64;

/**
 * The one, non-empty JSON array that a file holds; `stdin`, where it is given, is read in its place. `of` says in the
 * hint what its elements are. Throws `json_unreadable`, `json_invalid`, and `too_large` above 64 MiB.
 */
export async function readJsonArray(path: string, of: string, stdin?: Readable): Promise<unknown[]> {
  const file = stdin === undefined ? path : "standard input";
  const hint = `It must be one JSON array of ${of}.`;
  const split = "Split it, or give a CSV file, of which any size is read.";
  const text = await readBounded(file, MOST_MIB, split, stdin).catch((error: unknown) => {
    if (error instanceof CliError || stdin !== undefined) throw error;
    const absent = error instanceof Error && "code" in error && error.code === "ENOENT";
    const words = absent ? `${file}: there is no such file.` : `${file} cannot be read.`;
    throw new CliError("json_unreadable", words, "Check the path and its rights.", undefined, error);
  });
  const parsed = parse(text, file, hint);
  if (!Array.isArray(parsed)) throw new CliError("json_invalid", `${file} holds no array.`, hint);
  if (parsed.length === 0) throw new CliError("json_invalid", `${file} holds an empty array.`, hint);
  return parsed;
}

function parse(text: string, file: string, hint: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The engine's message quotes the file, which may hold secrets.
    const [where = ""] = / at position \d+/.exec(error instanceof Error ? error.message : "") ?? [];
    throw new CliError("json_invalid", `${file} is not JSON${where.replace(" at", ": it goes wrong at")}.`, hint);
  }
}

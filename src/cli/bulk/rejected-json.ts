import { rm } from "node:fs/promises";

/** A record of a JSON array that cannot be used; the index of the first one is 0. */
interface RejectedRecord {
  index: number;
  reason: string;
  record: unknown;
}

/**
 * Writes `p.rejected.json` beside `p.json` (0600), `stdin.rejected.json` for standard input; its path, or null when
 * nothing was rejected. What an earlier run left there is removed.
 */
export async function writeRejectedJson(file: string, bad: readonly RejectedRecord[]): Promise<string | null> {
  const path = file === "-" ? "stdin.rejected.json" : file.replace(/\.json$/i, ".rejected.json");
  await rm(path, { force: true });
  if (bad.length === 0) return null;
  const { piecesOf, writeFileWhole } = await import("../output/file.ts");
  await writeFileWhole(path, piecesOf(`${JSON.stringify(bad, null, 2)}\n`));
  return path;
}

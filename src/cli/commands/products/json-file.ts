import { rm, writeFile } from "node:fs/promises";
import type { ProductInput } from "../../../core/catalog/product-input.ts";
import { importResult } from "../../bulk/import-csv.ts";
import { readJsonArray } from "../../bulk/json-array.ts";
import { checkProductRecord } from "../../bulk/product-row.ts";
import { importExitCode, type RowOutcome } from "../../csv/import.ts";
import type { Context } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import type { Result } from "../../output/result.ts";

interface Asked {
  file: string;
  /** Called with each product that can be imported. */
  seen(product: ProductInput): void;
  send(products: ProductInput[]): Promise<readonly RowOutcome[]>;
  dryRun: boolean;
  strict: boolean;
}

const BATCH = 200;

/** Imports a JSON array of products, as the CSV import does; bad records go to `p.rejected.json` beside `p.json`. */
export async function importProductsJson(context: Context, asked: Asked): Promise<Result> {
  const began = performance.now();
  const records = await readJsonArray(asked.file, "objects with the API's names and types");
  const good: ProductInput[] = [];
  const bad: { index: number; reason: string; record: unknown }[] = [];
  for (const [index, record] of records.entries()) {
    const checked = checkProductRecord(record);
    if ("ok" in checked) {
      good.push(checked.ok);
      asked.seen(checked.ok);
    } else bad.push({ index, reason: checked.problems.join("; "), record });
  }
  const rejected_file = await writeRejected(asked.file, bad);
  const stops = asked.dryRun || (asked.strict && bad.length > 0);
  const outcomes = stops ? [] : await sendAll(context, good, asked.send);
  const count = (wanted: RowOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
  const summary = {
    read: records.length,
    imported: count("imported"),
    updated: count("updated"),
    duplicates: count("duplicate"),
    rejected: bad.length,
    rejected_file,
    seconds: Math.round(performance.now() - began) / 1000,
  };
  const exitCode = context.interruption.aborted ? exitCodes.interrupted : importExitCode(summary, asked.dryRun);
  return importResult(summary, exitCode, asked.dryRun);
}

async function sendAll(context: Context, products: ProductInput[], send: Asked["send"]): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for (let at = 0; at < products.length && !context.interruption.aborted; at += BATCH) {
    outcomes.push(...(await send(products.slice(at, at + BATCH))));
  }
  return outcomes;
}

async function writeRejected(file: string, bad: unknown[]): Promise<string | null> {
  const path = file.replace(/\.json$/i, ".rejected.json");
  await rm(path, { force: true });
  if (bad.length === 0) return null;
  await writeFile(path, `${JSON.stringify(bad, null, 2)}\n`, { mode: 0o600 });
  return path;
}

import { systemClock } from "../../core/kernel/clock.ts";
import type { CsvSpec } from "../csv/header.ts";
import { sampleCsv, sampleRow } from "../csv/template.ts";
import type { Result } from "../output/result.ts";

/** What `--template` prints: a header and one made-up row, which the command takes as they are. */
export function templateResult(spec: CsvSpec): Result {
  const row = sampleRow(spec, systemClock.now());
  return { json: { columns: spec.columns, needs: spec.needs, example: row }, text: () => sampleCsv(row) };
}

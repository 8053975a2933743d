import { usageError } from "../kernel/errors.ts";
import type { Shape } from "../kernel/globals.ts";
import { excluding, flag, type Option, text } from "../kernel/input.ts";
import type { Command } from "./command.ts";

/** What every command that lists or shows takes. */
export const shapeOptions = {
  jq: text("--jq <expression>", "print what this jq expression makes of the JSON document"),
  template: excluding(
    text("--template <template>", "print this Liquid template, filled from the JSON document"),
    "--jq",
  ),
};

/** What every command that lists rows takes too. */
export const csvOptions = [
  excluding(
    flag("--csv", "print the rows as CSV, a column for each field of the JSON rows"),
    ...["--jq", "--template", "--json"],
  ),
  flag("--bom", "with --csv: begin with a byte-order mark, so that Excel reads UTF-8"),
  flag("--decimals", "with --csv: an amount in the currency's own units beside each in minor units"),
] as const;

/** The shapes that this command's output can take, as options. */
export function shapeOptionsOf({ shows }: Pick<Command, "shows">): readonly Option<unknown>[] {
  if (shows === undefined) return [];
  return shows === "rows" ? [...Object.values(shapeOptions), ...csvOptions] : Object.values(shapeOptions);
}

/** The shape that these values of `shapeOptionsOf` ask for. Throws a usage error for what goes with --csv alone. */
export function readShape(given: readonly unknown[]): Shape | null {
  const jq = shapeOptions.jq.read(given[0]);
  const template = shapeOptions.template.read(given[1]);
  const [csv, bom, decimals] = csvOptions.map((option, at) => option.read(given[2 + at]));
  if (csv !== true && (bom === true || decimals === true))
    throw usageError("--bom and --decimals go with --csv.", "Add --csv.");
  if (jq !== undefined) return { jq };
  if (template !== undefined) return { template };
  return csv === true ? { csv: { bom: bom === true, decimals: decimals === true } } : null;
}

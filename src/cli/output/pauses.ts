import type { Pause } from "../../core/platform/pauses.ts";
import { clean } from "./clean.ts";
import type { Sheet } from "./sheet.ts";
import { moment } from "./words.ts";

/** What is paused, why, and how to end it: a line each. */
export function pausesText({ paint }: Sheet, pauses: readonly Pause[]): string {
  const lines = pauses.map(({ kind, name, reason, since }) => {
    const what = kind === "orders" ? "New orders are paused" : `New orders from supplier ${name} are paused`;
    const end = kind === "orders" ? "esimctl orders resume" : `esimctl suppliers resume ${name}`;
    return paint.yellow(`${what} since ${moment(since)}: ${clean(reason)} (end it: ${end})`);
  });
  return lines.join("\n");
}

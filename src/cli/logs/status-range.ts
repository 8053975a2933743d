import type { StatusRange } from "../../daemon/log/filter.ts";
import { usageError } from "../kernel/errors.ts";

/** "404" or "5xx". Throws a usage error for anything else. */
export function statusRange(typed: string | undefined): StatusRange | undefined {
  if (typed === undefined) return undefined;
  const [, hundreds, rest] = /^([1-5])(xx|\d\d)$/i.exec(typed) ?? [];
  if (hundreds === undefined || rest === undefined) {
    throw usageError(`--status must be a code such as 404 or a class such as 5xx, not "${typed}".`, "Correct it.");
  }
  const from = Number(hundreds) * 100;
  return /xx/i.test(rest) ? { from, to: from + 99 } : { from: from + Number(rest), to: from + Number(rest) };
}

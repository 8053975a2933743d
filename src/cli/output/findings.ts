import type { Finding } from "../../core/maintenance/finding.ts";
import { clean } from "./clean.ts";
import type { Sheet } from "./sheet.ts";

/** Each finding on a line, its remedy below it. */
export function findingLines({ paint }: Sheet, findings: readonly Finding[]): string[] {
  const marks = { ok: paint.green("ok     "), warning: paint.yellow("warning"), fault: paint.red("fault  ") };
  return findings.flatMap(({ level, message, remedy }) => {
    const line = `${marks[level]}  ${clean(message)}`;
    return remedy === null ? [line] : [line, paint.dim(`         → ${clean(remedy)}`)];
  });
}

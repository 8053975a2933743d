import { isCivilDate } from "../../core/kernel/calendar-day.ts";
import type { Waiting } from "../../core/kernel/waiting.ts";
import type { Finding } from "../../core/maintenance/finding.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { clean } from "./clean.ts";
import type { Sheet } from "./sheet.ts";

/** "2026-03-01 12:30:05Z": a moment of the API, for people. */
export function moment(iso: string | null): string {
  return iso === null ? "-" : `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
}

const MOMENT = /^(\d{4}-\d\d-\d\d \d\d:\d\d):\d\dZ$/;

/** "2026-03-01 12:30Z": a moment as `moment` writes it, to the minute; any other text is returned unchanged. */
export function withoutSeconds(text: string): string {
  return text.replace(MOMENT, "$1Z");
}

/** "3 h ago": how long before `now` something was, for a glance. */
export function ago(iso: string, now: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(iso)) / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}

/** "for operator: approve (stock), since 2026-11-20 10:12:05Z (2 d)"; null where nothing waits for a person. */
export function waitingWords(waiting: Waiting | null, now: string): string | null {
  if (waiting === null) return null;
  const { for: person, act, on, since } = waiting;
  return `for ${person}: ${act} (${on}), since ${moment(since)} (${ago(since, now).replace(/ ago$/, "")})`;
}

/** "12.5 MiB": a size. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** The same words as a sentence begins. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A summary; where Ctrl-C cut the work short, below it how to go on. */
export function endedWords({ paint }: Sheet, summary: string, exitCode: number): string {
  if (exitCode !== exitCodes.interrupted) return summary;
  return `${summary}\n\n${paint.yellow("Interrupted.")} The same command again finishes it; nothing is done twice.`;
}

/** "yes" or "no". */
export function yesNo(value: boolean): string {
  return value ? "yes" : "no";
}

/** A text from outside on one line, or "-". */
export function shown(text: string | null | undefined): string {
  return text === null || text === undefined || text === "" ? "-" : clean(text);
}

const good = ["active", "fulfilled", "completed", "activated", "ok"];
const bad = ["failed", "suspended", "revoked", "disabled", "wrong"];
const waiting = ["waiting_review", "paid", "pending_payment", "pending", "processing", "low", "out_of_stock"];

/** How a status is colored, the same everywhere. */
export function statusPaint({ paint }: Sheet, status: string): (text: string) => string {
  if (good.includes(status)) return paint.green;
  if (bad.includes(status)) return paint.red;
  return waiting.includes(status) ? paint.yellow : paint.dim;
}

/** "Tue 2027-11-02": a day with its weekday; any other text is returned unchanged. */
export function dayWords(date: string): string {
  if (!isCivilDate(date)) return date;
  const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", timeZone: "UTC" });
  return `${weekday.format(new Date(`${date}T00:00:00Z`))} ${date}`;
}

/** Each finding on a line, its remedy below it. */
export function findingLines({ paint }: Sheet, findings: readonly Finding[]): string[] {
  const marks = { ok: paint.green("ok     "), warning: paint.yellow("warning"), fault: paint.red("fault  ") };
  return findings.flatMap(({ level, message, remedy }) => {
    const line = `${marks[level]}  ${clean(message)}`;
    return remedy === null ? [line] : [line, paint.dim(`         → ${clean(remedy)}`)];
  });
}

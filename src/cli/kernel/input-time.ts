import { isCivilDate } from "../../core/kernel/calendar-day.ts";
import { instantOf } from "../../core/kernel/clock.ts";
import { usageError } from "./errors.ts";
import type { Argument, Option } from "./input.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function spanOf(typed: string): number | null {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(typed) ?? [];
  const each = UNITS[unit ?? ""];
  return each === undefined ? null : Number(count) * each;
}

/** `--overlap <span>`: a span of time such as 30m, 24h or 7d, in ms. */
export function span(flags: string, help: string): Option<number | undefined> {
  const read = (given: unknown) => {
    if (typeof given !== "string") return undefined;
    const ms = given === "0" ? 0 : spanOf(given);
    if (ms !== null) return ms;
    throw usageError(`${flags} must be a span such as 30m, 24h or 7d, not "${given}".`, "Correct it.");
  };
  return { flags: [flags], help, required: false, read };
}

/** A span of time as a positional argument: 12h or 7d, or an ISO 8601 duration such as P1M; as the latter. */
export function durationArgument(name: string, help: string): Argument<string> {
  const read = (given: unknown) => {
    const typed = typeof given === "string" ? given.trim() : "";
    if (/^P/i.test(typed)) return typed.toUpperCase();
    const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(typed) ?? [];
    if (count !== undefined) return unit === "d" ? `P${count}D` : `PT${count}${unit.toUpperCase()}`;
    throw usageError(
      `${name} must be a span such as 12h or 7d, or a duration such as P1M, not "${typed}".`,
      "Correct it.",
    );
  };
  return { syntax: `<${name}>`, help, ask: "line", read };
}

/** A date (UTC), or a time that names its zone, in ms; null: neither. Without a zone it would be this machine's. */
function clearMoment(typed: string): number | null {
  return isCivilDate(typed) ? Date.parse(typed) : instantOf(typed);
}

/** `--inventory-sunset <date>`: a moment such as 2027-06-30 (its first in UTC) or 2027-06-30T22:00:00+10:00, in ms. */
export function dated(flags: string, help: string): Option<number | undefined> {
  const read = (given: unknown) => {
    if (typeof given !== "string") return undefined;
    const at = clearMoment(given);
    if (at !== null) return at;
    throw usageError(
      `${flags} must be a date such as 2027-06-30, or a time with its zone, not "${given}".`,
      "Correct it.",
    );
  };
  return { flags: [flags], help, required: false, read };
}

/** `--from <date>`: a day that the calendar has, as YYYY-MM-DD. */
export function day(flags: string, help: string): Option<string | undefined> {
  const read = (given: unknown) => {
    if (typeof given !== "string") return undefined;
    if (isCivilDate(given)) return given;
    throw usageError(`${flags} must be a day such as 2027-11-01, not "${given}".`, "Correct it.");
  };
  return { flags: [flags], help, required: false, read };
}

/** A moment as it was typed: at a time (ms), or so long ago (ms). */
export type TypedMoment = { at: number } | { ago: number };

/** `--since <time>`: a moment such as 2026-03-01, 2026-03-01T12:00:00Z, or 24h for that long ago. */
export function since(flags: string, help: string): Option<TypedMoment | undefined> {
  const read = (given: unknown): TypedMoment | undefined => {
    if (typeof given !== "string") return undefined;
    const ago = spanOf(given);
    if (ago !== null) return { ago };
    const at = clearMoment(given);
    if (at !== null) return { at };
    const words = "a time such as 2026-03-01, 2026-03-01T12:00:00Z, or 24h for that long ago";
    throw usageError(`${flags} must be ${words}, not "${given}".`, "Correct it.");
  };
  return { flags: [flags], help, required: false, read };
}

/** The time (ms) that the option means. */
export function momentOf(typed: TypedMoment, now: number): number {
  return "at" in typed ? typed.at : now - typed.ago;
}

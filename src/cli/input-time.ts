import { usageError } from "./errors.ts";
import type { Option } from "./input.ts";

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

/** A moment as it was typed: at a time (ms), or so long ago (ms). */
export type TypedMoment = { at: number } | { ago: number };

/** `--since <time>`: a moment such as 2026-03-01, 2026-03-01T12:00:00Z, or 24h for that long ago. */
export function since(flags: string, help: string): Option<TypedMoment | undefined> {
  const read = (given: unknown): TypedMoment | undefined => {
    if (typeof given !== "string") return undefined;
    const ago = spanOf(given);
    if (ago !== null) return { ago };
    // Without a zone it would be this machine's: only dates (UTC) and times that name theirs are clear.
    const clear = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(given);
    const at = clear ? Date.parse(given) : Number.NaN;
    if (!Number.isNaN(at)) return { at };
    const words = "a time such as 2026-03-01, 2026-03-01T12:00:00Z, or 24h for that long ago";
    throw usageError(`${flags} must be ${words}, not "${given}".`, "Correct it.");
  };
  return { flags: [flags], help, required: false, read };
}

/** The moment (ms) that was meant. */
export function momentOf(typed: TypedMoment, now: number): number {
  return "at" in typed ? typed.at : now - typed.ago;
}

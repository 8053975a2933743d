/** What takes the place of a trace in a text that stays. */
const ERASED = "[erased]";

/** Shorter numbers meet by chance: they are compared with fields, and not searched for in texts. */
const DISTINCT_LENGTH = 6;

const BETWEEN_DIGITS = "[\\s()./\\u00ad\\u2010-\\u2015\\u2212-]*";

/** A telephone number as numbers are compared: digits, without separators and without a leading 00 or +. */
export function phoneKey(phone: string | null | undefined): string {
  const compact = (phone ?? "").normalize("NFKC").replace(/[\s()./\u00ad\u2010-\u2015\u2212-]+/g, "");
  return compact.replace(/^(\+|00)/, "");
}

/** `text` as a part of a regular expression with the flag `u`, which refuses an escaped hyphen. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function spaced(text: string): string {
  return [...text].map(escaped).join(BETWEEN_DIGITS);
}

/** An e-mail address in any case, and not as a part of a longer one. */
export function emailTrace(address: string): RegExp[] {
  const text = address.trim();
  if (text === "") return [];
  return [new RegExp(`(?<![\\p{L}\\p{N}._%+'-])${escaped(text)}(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])`, "giu")];
}

/** A telephone number, given as `phoneKey` writes it, however it is written. */
export function phoneTrace(key: string): RegExp[] {
  if (key.length < DISTINCT_LENGTH) return [];
  return [new RegExp(`(?<![\\p{L}\\p{N}])(?:\\+|00)?${BETWEEN_DIGITS}${spaced(key)}(?![\\p{L}\\p{N}])`, "giu")];
}

/** A document's or device's number, given without separators, however it is written. */
export function numberTrace(number: string): RegExp[] {
  if (number.length < DISTINCT_LENGTH) return [];
  return [new RegExp(`(?<![\\p{L}\\p{N}])${spaced(number)}(?![\\p{L}\\p{N}])`, "giu")];
}

/** A name of at least two words in any case. A single word may be anything. */
export function nameTrace(name: string): RegExp[] {
  const words = name.trim().split(/\s+/);
  if (words.length < 2) return [];
  return [new RegExp(`(?<![\\p{L}\\p{N}])${words.map(escaped).join("\\s+")}(?![\\p{L}\\p{N}])`, "giu")];
}

/** `text` with every trace replaced. */
export function withoutTraces(text: string, traces: readonly RegExp[]): string {
  return traces.reduce((left, trace) => left.replace(trace, ERASED), text);
}

/** The same for a JSON value: in all its texts and names of members. Numbers are compared as they are written. */
export function jsonWithoutTraces(value: unknown, traces: readonly RegExp[]): unknown {
  if (typeof value === "string") return withoutTraces(value, traces);
  if (typeof value === "number") {
    const text = String(value);
    return withoutTraces(text, traces) === text ? value : ERASED;
  }
  if (Array.isArray(value)) return value.map((each) => jsonWithoutTraces(each, traces));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => {
    return [withoutTraces(name, traces), jsonWithoutTraces(member, traces)] as const;
  });
  return Object.fromEntries(members);
}

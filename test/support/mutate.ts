/** Picks and changes by a seeded source of numbers in [0, 1): the same seed gives the same input again. */
export interface Chance {
  next(): number;
  below(count: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
}

export function chance(next: () => number): Chance {
  const below = (count: number) => Math.floor(next() * count);
  return { next, below, pick: (from) => from[below(from.length)] ?? from[0] };
}

const LONG = "x".repeat(70_000);

/** Values that programs trip over: wrong types, edges of numbers and dates, texts of every kind. */
const awkward: readonly [unknown, ...unknown[]] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER,
  "",
  " ",
  "\u0000",
  "\ud800",
  "\u202e\u2066x",
  "e\u0301\u{1f600}",
  "\ufeffa",
  "2026-02-30",
  "0000-00-00",
  "9999-12-31",
  "+275760-09-13",
  "2026-03-10T00:00:00Z",
  "Pacific/Kiritimati",
  "../../etc/passwd",
  "' OR 1=1 --",
  "%00%ff",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "http://169.254.169.254/latest",
  "https://user:pass@hooks.example.com/#x",
  "*",
  "__proto__",
  "0",
  "-0",
  "1e999",
  "8999000000000000009",
  "00000000-0000-0000-0000-000000000000",
  LONG,
  [],
  [[]],
  {},
  { length: 3 },
];

/** `value` with one or more places changed: replaced, dropped, repeated, nested, or joined by a foreign key. */
export function mutated(value: unknown, by: Chance): unknown {
  let changed = structuredClone(value);
  for (let times = 1 + by.below(3); times > 0; times--) changed = changedOnce(changed, by);
  return changed;
}

function changedOnce(value: unknown, by: Chance): unknown {
  if (typeof value !== "object" || value === null || by.next() < 0.1) return by.pick(awkward);
  if (Array.isArray(value)) return changedArray(value, by);
  const object: Record<string, unknown> = { ...value };
  const names = Object.keys(object);
  if (names.length === 0 || by.next() < 0.1) return { ...object, [String(by.pick(foreignKeys))]: by.pick(awkward) };
  const name = names[by.below(names.length)] ?? "";
  if (by.next() < 0.15) delete object[name];
  else object[name] = by.next() < 0.5 ? changedOnce(object[name], by) : by.pick(awkward);
  return object;
}

function changedArray(value: unknown[], by: Chance): unknown[] {
  const at = by.below(value.length);
  const how = by.below(5);
  if (value.length === 0 || how === 0) return [...value, by.pick(awkward)];
  if (how === 1) return value.filter((_, index) => index !== at);
  if (how === 2) return Array.from({ length: 300 }, () => value[at]);
  return value.map((item, index) => (index === at ? changedOnce(item, by) : item));
}

const foreignKeys: readonly [string, ...string[]] = ["constructor", "toString", "extra", "", "a.b", "id", "status"];

/** A text with some of its characters replaced, removed or doubled. */
export function garbled(text: string, by: Chance): string {
  let garbage = text;
  for (let times = 1 + by.below(4); times > 0; times--) {
    const at = by.below(garbage.length + 1);
    const put = by.pick(["", "\u0000", "%", "%2", "%00", "/", "//", "..", ";", '"', "\\", "é", "\r\n", " ", "&", "="]);
    garbage = garbage.slice(0, at) + put + garbage.slice(at + by.below(3));
  }
  return garbage;
}

/** JSON with prototypes, repeated names, deep nesting or broken syntax: what no serializer writes. */
export function oddJson(text: string, by: Chance): string {
  return by.pick([
    () => garbled(text, by),
    () => text.replace("{", '{"__proto__":{"status":"fulfilled","isAdmin":true},'),
    () => text.replace("{", `{"metadata":${"[".repeat(3000)}${"]".repeat(3000)},`),
    () => text.replace("{", '{"metadata":{"n":123456789012345678901234567890},'),
    () => text + text,
    () => text.slice(0, by.below(text.length)),
    () => `[${text}]`,
    () => `\ufeff${text}`,
    () => text.replace("{", `{"padding":"${by.next() < 0.1 ? "x".repeat(1024 * 1024) : ""}",`),
  ])();
}

import fc from "fast-check";
import { test } from "vitest";

/** Any character but half a surrogate pair. The library's own `binary` first makes a table of all of them. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point));

/** How often a check with random values is repeated: by `npm test`, and by the slow tests. */
interface Rounds {
  few: number;
  many: number;
}

/** A test of random values: `few` rounds in every run, and `many` among the slow ones. */
export function property(name: string, { few, many }: Rounds, check: (rounds: number) => Promise<void>): void {
  test(name, () => check(few));
  test(`${name}, in ${many} rounds`, { tags: ["slow"] }, () => check(many));
}

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

/**
 * As many as the slow tests do; `ROUNDS=10 npm run test:slow` does ten times more: before a release, and after a change
 * of what they guard.
 */
export function repeated(count: number): number {
  return Math.ceil(count * Number(process.env.ROUNDS ?? 1));
}

/** A test of random values: `few` rounds in every run, and `many` among the slow ones. */
export function property(name: string, { few, many }: Rounds, check: (rounds: number) => Promise<void>): void {
  const rounds = repeated(many);
  test(name, () => check(few));
  test(`${name}, in ${rounds} rounds`, { tags: ["slow"] }, () => check(rounds));
}

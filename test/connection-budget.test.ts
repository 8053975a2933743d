import { describe, expect, test } from "vitest";
import { DEFAULT_CONNECTIONS, poolSizes } from "../src/cli/serve/connection-budget.ts";

/** Connections of a node: its pools, one beside each, and the one that listens. */
function allOf(workers: number, { main, front }: ReturnType<typeof poolSizes>): number {
  return main + 1 + 1 + (workers === 1 ? 0 : workers * (front + 1));
}

describe("the connections of a node", () => {
  test.each([1, 2, 4, 8, 16])("stay within their budget with %i workers, and use most of it", (workers) => {
    const processes = workers === 1 ? 1 : workers + 1;
    for (let budget = processes * 3 + 1; budget <= 200; budget++) {
      const sizes = poolSizes(budget, workers);
      expect(Math.min(sizes.main, sizes.front)).toBeGreaterThanOrEqual(2);
      expect(allOf(workers, sizes)).toBeLessThanOrEqual(budget);
      expect(allOf(workers, sizes)).toBeGreaterThan(budget - processes);
    }
    expect(() => poolSizes(processes * 3, workers)).toThrow(/is too few/);
  });

  test("of three nodes with four workers fit into 100, unless set otherwise", () => {
    expect(3 * allOf(4, poolSizes(undefined, 4))).toBeLessThanOrEqual(3 * DEFAULT_CONNECTIONS);
    expect(poolSizes(undefined, 1).main).toBe(12);
  });
});

import { expect, test } from "vitest";
import { tinyScale } from "./bench/bench.ts";
import { orderCreation } from "./bench/order-creation.ts";
import { webhooks } from "./bench/webhooks.ts";

// Never a time: only that it still runs to its end. A bench throws when an answer was no 2xx or a write failed. The
// others are in test/slow: they load the same platform in the same way, or start commands that the suite starts anyway.
test.each([orderCreation, webhooks].map((bench) => [bench.name, bench] as const))(
  "the bench %s still runs",
  async (_name, bench) => {
    const lines = await bench(tinyScale);
    expect(lines.length).toBeGreaterThan(0);
    for (const { ours, bare, ratio } of lines)
      for (const figure of [ours, bare, ratio]) expect(figure).toBeGreaterThan(0);
  },
);

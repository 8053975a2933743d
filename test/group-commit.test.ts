import { expect, test } from "vitest";
import { openTestStore } from "./support/store.ts";

test("a write that comes any moment after the one before is carried out", async () => {
  const { store } = await openTestStore({ now: () => 1_800_000_000_000 });
  const moment = async (tx: { now: number }) => tx.now;
  for (let microtasks = 0; microtasks < 20; microtasks++) {
    await store.write(moment, null);
    for (let passed = 0; passed < microtasks; passed++) await null;
    expect(await store.write(moment, null)).toBe(1_800_000_000_000);
  }
});

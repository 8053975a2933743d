import { expect, test } from "vitest";
import {
  circuitOf,
  noteAccountFault,
  noteFault,
  noteSuccess,
  passageOf,
  returnPassage,
  takePassage,
} from "../src/core/supply/circuit.ts";
import { testClock } from "./support/clock.ts";
import { openTestStore } from "./support/store.ts";
import { supplyShop } from "./support/supply.ts";

const supplier = "esimaccess";
const reason = "no answer";

/** A circuit that five faults opened. */
async function opened() {
  const clock = testClock();
  const { store } = await openTestStore(clock);
  for (let nth = 0; nth < 5; nth++) await store.write(noteFault, { supplier, probe: null, reason });
  const state = async () => (await store.read(circuitOf, supplier)).circuit;
  expect(await state()).toBe("open");
  const take = async () => {
    const taken = await store.write(takePassage, supplier);
    return taken.open ? "none" : taken.probe;
  };
  return { store, clock, state, take };
}

test("while it is open nothing that was under way closes it, hastens its probe or counts against it", async () => {
  const { store, clock, state, take } = await opened();
  const before = await store.read(passageOf, supplier);
  await store.write(noteSuccess, { supplier, probe: null });
  await store.write(noteFault, { supplier, probe: null, reason: "another" });
  await store.write(noteAccountFault, { supplier, probe: null, reason: "the account" });
  expect(await store.read(passageOf, supplier)).toEqual(before);
  clock.advance(29_999);
  expect([await take(), await state()]).toEqual(["none", "open"]);
});

test("while it is half-open its probe alone decides", async () => {
  const { store, clock, state, take } = await opened();
  clock.advance(30_000);
  const probe = await take();
  if (typeof probe !== "number") throw new Error("no probe");
  expect([await take(), await state()]).toEqual(["none", "half_open"]);
  for (const other of [null, probe + 1]) {
    await store.write(noteSuccess, { supplier, probe: other });
    await store.write(noteFault, { supplier, probe: other, reason });
    await store.write(noteAccountFault, { supplier, probe: other, reason });
    expect([await take(), await state()]).toEqual(["none", "half_open"]);
  }
  await store.write(noteFault, { supplier, probe, reason });
  expect(await state()).toBe("open");
  // Twice as long as before; what the old probe still has to say counts no more.
  clock.advance(60_000);
  const next = await take();
  await store.write(noteSuccess, { supplier, probe });
  expect(await state()).toBe("half_open");
  await store.write(noteSuccess, { supplier, probe: typeof next === "number" ? next : null });
  expect(await state()).toBe("closed");
});

test("a probe that bought nothing and showed nothing leaves it to the next one", async () => {
  const { store, clock, state, take } = await opened();
  clock.advance(30_000);
  const probe = await take();
  await store.write(returnPassage, { supplier, probe: typeof probe === "number" ? probe : null });
  expect(await state()).toBe("half_open");
  expect(typeof (await take())).toBe("number");
  expect(await take()).toBe("none");
});

test("a probe that never ends is followed by another after a minute", async () => {
  const { clock, take } = await opened();
  clock.advance(30_000);
  await take();
  clock.advance(59_999);
  expect(await take()).toBe("none");
  clock.advance(1);
  expect(typeof (await take())).toBe("number");
});

test("a look-up that finds its unit, or gets no answer, leaves an open circuit to its probe", async () => {
  const shop = await supplyShop(["airalo"]);
  const { store, clock } = shop.platform;
  const { airalo } = shop.doubles;
  const state = async () => (await store.read(circuitOf, "airalo")).circuit;
  await airalo?.steer({ on: "order", outcome: "lost" });
  await airalo?.steer({ on: "query", outcome: "wait", count: 1_000, delay_ms: 600_000 });
  const first = await shop.order();
  await shop.work();
  // Five calls a second are allowed.
  clock.advance(1_000);
  await airalo?.steer({ on: "order", outcome: "busy", count: 4 });
  for (let nth = 0; nth < 4; nth++) await shop.order();
  await shop.work();
  expect(await state()).toBe("open");
  await airalo?.release();
  clock.advance(2_000);
  await shop.work();
  expect(await shop.show(first)).toMatchObject({ status: "fulfilled" });
  expect(await state()).toBe("open");
  const waiting = await shop.order();
  await shop.work();
  expect(await shop.show(waiting)).toMatchObject({ status: "paid" });
  await shop.settle(60_000);
  expect(await shop.show(waiting)).toMatchObject({ status: "fulfilled" });
  expect(await state()).toBe("closed");
});

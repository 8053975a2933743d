import { describe, expect, test } from "vitest";
import type { Step } from "../src/core/supply/provider.ts";
import { BOUGHT, BRITAIN, intoInventory, openEsimgoAdapter } from "./support/providers/esimgo-adapter.ts";
import { seeded } from "./support/random.ts";

describe("an apply without a clear answer", () => {
  /** A purchase whose order is made and whose apply ends like that. */
  async function applied(outcome: "lost" | "busy" | "wait", options = {}) {
    const go = await openEsimgoAdapter(options);
    const unit = go.purchase(BRITAIN);
    await unit.run({ crash: "fill" });
    await go.call("POST", "/orders", intoInventory);
    expect(await unit.run({ crash: "apply" })).toMatchObject({ kind: "note" });
    if (outcome !== "lost") return { go, unit };
    await go.call("POST", "/esims/apply", { name: BRITAIN });
    return { go, unit };
  }

  test("is found by its eSIM when it was made", async () => {
    const { go, unit } = await applied("lost");
    expect(await unit.run()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test.each(["lost", "wait"] as const)("is found after a step that ended in it (%s)", async (outcome) => {
    const go = await openEsimgoAdapter();
    await go.call("POST", "/orders", intoInventory);
    await go.steer({ on: "order", outcome, delay_ms: 4_000 });
    const unit = go.purchase(BRITAIN);
    expect(await unit.run()).toMatchObject({ kind: "unknown" });
    const bought = await unit.end();
    expect(bought).toEqual({ ...BOUGHT, cost: null });
    const [apply] = bought.kind === "bought" ? [bought.esim.reference] : [];
    const esim = await go.call("GET", `/esims/assignments?reference=${apply}`);
    expect(esim.iccid).toBe(bought.kind === "bought" ? bought.esim.iccid : "");
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("is made again only when two looks a minute apart find the inventory unchanged", async () => {
    const { go, unit } = await applied("busy");
    const began = go.clock.now();
    const looks: number[] = [];
    let step = await unit.run();
    while (step.kind === "unknown") {
      expect(step.reason).toContain("has it still");
      looks.push(go.clock.now() - began);
      go.clock.advance(step.waitMs);
      step = await unit.run();
    }
    expect(step).toEqual(BOUGHT);
    expect(looks.length).toBeGreaterThanOrEqual(4);
    expect(go.clock.now() - began).toBeGreaterThan(60_000);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("is not made a third time", async () => {
    const go = await openEsimgoAdapter({
      instead: ({ path }) => (path === "/esims/apply" ? { status: 503, body: { message: "processing" } } : null),
    });
    const unit = go.purchase(BRITAIN);
    expect(await unit.end()).toMatchObject({ kind: "lost", reason: expect.stringContaining("has it still") });
    expect(go.requests.filter((one) => one === "POST /esims/apply")).toHaveLength(2);
    expect(await unit.run()).toMatchObject({ kind: "lost" });
    expect(go.requests.filter((one) => one === "POST /esims/apply")).toHaveLength(2);
    expect(go.double.state().bought).toBe(1);
  });

  test("whose second one is refused was made before", async () => {
    let applies = 0;
    const go = await openEsimgoAdapter({
      instead: ({ path }) => {
        if (path === "/esims/apply") applies += 1;
        if (path !== "/esims/apply") return null;
        if (applies === 1) return { status: 500, body: { message: "fault" } };
        return { status: 403, body: { message: "No bundles are available in the inventory" } };
      },
    });
    const unit = go.purchase(BRITAIN);
    expect(await unit.end()).toMatchObject({ kind: "lost" });
    expect(applies).toBe(2);
  });

  test("that left the inventory without an eSIM is people's", async () => {
    const go = await openEsimgoAdapter({
      instead: ({ path, query }) =>
        path === "/orders" && query.has("createdAt") ? { status: 200, body: { orders: [] } } : null,
    });
    await go.call("POST", "/orders", intoInventory);
    await go.steer({ on: "order", outcome: "lost" });
    const unit = go.purchase(BRITAIN);
    expect(await unit.end()).toMatchObject({ kind: "lost", reason: expect.stringContaining("left the inventory") });
    expect(go.requests.filter((one) => one === "POST /esims/apply")).toHaveLength(1);
  });

  test("of two eSIMs neither is taken", async () => {
    const { go, unit } = await applied("lost");
    await go.call("POST", "/orders", intoInventory);
    await go.call("POST", "/esims/apply", { name: BRITAIN });
    expect(await unit.run()).toMatchObject({ kind: "lost", reason: expect.stringMatching(/\d{19}, \d{19}/) });
  });

  test("is set apart from the one of a purchase that is known", async () => {
    const go = await openEsimgoAdapter({ pace: 1 });
    const first = await go.purchase(BRITAIN).end();
    go.clock.advance(1_000);
    const unit = go.purchase(BRITAIN);
    await unit.run({ crash: "apply" });
    await go.call("POST", "/esims/apply", { name: BRITAIN });
    const second = await unit.end();
    expect(second).toEqual(BOUGHT);
    const iccids = [first, second].map((one) => (one.kind === "bought" ? one.esim.iccid : ""));
    expect(new Set(iccids).size).toBe(2);
  });
});

test("whatever breaks, every eSIM is delivered once, and what is not is a spare or in review", async () => {
  const go = await openEsimgoAdapter();
  const random = seeded(7);
  const pick = <T>(...among: T[]) => among[Math.floor(random() * among.length)];
  const ends: Step[] = [];
  for (let round = 0; round < 60; round++) {
    const unit = go.purchase(BRITAIN);
    const crash = pick("fill", "apply", undefined);
    const outcome = pick("lost", "busy", "wait", "refuse", undefined, undefined);
    if (outcome !== undefined) await go.steer({ on: "order", outcome, delay_ms: 3_000 });
    const step = await unit.run(crash === undefined ? {} : { crash });
    // The process ended after the request was sent, or before.
    if (step.kind === "note" && random() < 0.5) {
      const [path, body] = crash === "fill" ? ["/orders", intoInventory] : ["/esims/apply", { name: BRITAIN }];
      await go.call("POST", path, body).catch(() => null);
    }
    ends.push(step.kind === "note" || "waitMs" in step ? await unit.end() : step);
  }
  const iccids = ends.flatMap((one) => (one.kind === "bought" ? one.esim.iccid : []));
  const kinds = Object.groupBy(ends, ({ kind }) => kind);
  expect(Object.keys(kinds).sort()).toEqual(["bought", "lost", "refused"]);
  expect(new Set(iccids).size).toBe(iccids.length);
  const { units, spares, esims } = await go.holdings();
  expect({ units, esims }).toEqual({ units: iccids.length + spares, esims: iccids.length });
});

import { describe, expect, test } from "vitest";
import { BOUGHT, BRITAIN, intoInventory, openEsimgoAdapter } from "./support/providers/esimgo-adapter.ts";

describe("a purchase", () => {
  test("fills the inventory, takes from it, and holds its plan before both", async () => {
    const go = await openEsimgoAdapter();
    const unit = go.purchase(BRITAIN);
    const bought = await unit.run();
    expect(bought).toEqual(BOUGHT);
    expect(unit.notes).toEqual([null, "fill", "apply"].map((stage) => ({ stage, hold: BRITAIN })));
    expect(go.requests).toEqual([
      ...["GET /inventory", "POST /orders", "POST /orders", "POST /esims/apply"],
      expect.stringMatching(/^GET \/esims\/\d+$/),
    ]);
    const order = await go.call("GET", `/orders/${bought.kind === "bought" ? bought.reference : ""}`);
    expect(order).toMatchObject({ assigned: false, order: [{ type: "bundle", item: BRITAIN }] });
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
    expect(JSON.stringify(unit.memory())).not.toContain("LPA");
  });

  test("takes a spare that is there", async () => {
    const go = await openEsimgoAdapter();
    await go.call("POST", "/orders", intoInventory);
    const unit = go.purchase(BRITAIN);
    expect(await unit.run()).toEqual({ ...BOUGHT, cost: null });
    expect(unit.notes.map(({ stage }) => stage)).toEqual([null, "apply"]);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("buys where the spare that is shown is none", async () => {
    let shown = 1;
    const go = await openEsimgoAdapter({
      instead: ({ path }) => {
        if (path !== "/inventory" || shown === 0) return null;
        shown -= 1;
        return { status: 200, body: { bundles: [{ name: BRITAIN, available: [{ remaining: 1 }] }] } };
      },
    });
    const unit = go.purchase(BRITAIN);
    expect(await unit.run()).toEqual(BOUGHT);
    expect(unit.notes.map(({ stage }) => stage)).toEqual([null, "apply", null, "fill", "apply"]);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("keeps in mind that a spare is none, and takes one that comes on top of it", async () => {
    const lapsed = { name: BRITAIN, available: [{ remaining: 1 }] };
    const go = await openEsimgoAdapter({
      instead: ({ path }) => {
        if (path !== "/inventory") return null;
        return { status: 200, body: { bundles: [lapsed, { name: BRITAIN, available: [{ remaining: spares }] }] } };
      },
    });
    let spares = 0;
    for (let nth = 0; nth < 2; nth++) expect(await go.purchase(BRITAIN).end()).toEqual(BOUGHT);
    expect(go.requests.filter((one) => one === "POST /esims/apply")).toHaveLength(3);
    await go.call("POST", "/orders", intoInventory);
    spares = 1;
    expect(await go.purchase(BRITAIN).end()).toEqual({ ...BOUGHT, cost: null });
    expect(go.double.state().bought).toBe(3);
  });

  test("buys nothing that costs more by now", async () => {
    const go = await openEsimgoAdapter();
    expect(await go.purchase(BRITAIN, { cost: 139 }).run()).toMatchObject({
      kind: "refused",
      code: "price",
      message: "The price is another one now.",
      detail: "it costs 1.4000 by now, and 1.3900 by its source: sync its catalog",
      because: "plan",
    });
    expect(await go.purchase(BRITAIN, { cost: null }).run()).toMatchObject({ kind: "bought" });
  });
});

describe("a refusal", () => {
  test("of the order is the plan's, or the account's where its balance is too small", async () => {
    const go = await openEsimgoAdapter();
    await go.steer({ on: "order", outcome: "refuse" });
    const refused = { kind: "refused", code: "400", message: "400, out of stock", because: "plan" };
    expect(await go.purchase(BRITAIN).run()).toEqual(refused);
    expect(await go.purchase("esim_1GB_7D_XX_V2").run()).toMatchObject({ kind: "refused", because: "plan" });
    await go.call("POST", "/orders", {
      type: "transaction",
      assign: false,
      order: [{ type: "bundle", item: "esim_10GB_30D_REUP_V2", quantity: 69 }],
    });
    expect(await go.purchase("esim_ULP_7D_GB_V2", { cost: 1_350 }).run()).toMatchObject({
      kind: "refused",
      message: "400, Insufficient balance to place the order",
      because: "account",
    });
    expect(await go.purchase("esim_ULP_7D_GB_V2", { cost: null }).run()).toMatchObject({ because: "account" });
  });

  test("of the key is the account's", async () => {
    const go = await openEsimgoAdapter({ secret: "other" });
    expect(await go.purchase(BRITAIN).run()).toMatchObject({ kind: "refused", code: "403", because: "account" });
  });

  test("of apply for want of stock is asked again, since the bundle is bought", async () => {
    let refusals = 2;
    const go = await openEsimgoAdapter({
      instead: ({ path }) => {
        if (path !== "/esims/apply" || refusals === 0) return null;
        refusals -= 1;
        return { status: 403, body: { message: `No ${BRITAIN} bundles are available in the inventory` } };
      },
    });
    const unit = go.purchase(BRITAIN);
    expect(await unit.run()).toMatchObject({ kind: "wait", waitMs: 5_000 });
    expect(await unit.end()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("of apply for another reason ends in review, and a retry applies and buys nothing", async () => {
    let refuses = true;
    const go = await openEsimgoAdapter({
      instead: ({ path }) =>
        path === "/esims/apply" && refuses ? { status: 400, body: { message: "no profile" } } : null,
    });
    const unit = go.purchase(BRITAIN);
    expect(await unit.end()).toMatchObject({ kind: "lost", reason: expect.stringContaining("400, no profile") });
    refuses = false;
    expect(await unit.end()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("of a spare's apply for another reason is definite", async () => {
    const go = await openEsimgoAdapter({
      instead: ({ path }) => (path === "/esims/apply" ? { status: 400, body: { message: "no profile" } } : null),
    });
    await go.call("POST", "/orders", intoInventory);
    expect(await go.purchase(BRITAIN).run()).toMatchObject({ kind: "refused", because: "plan" });
  });
});

describe("an order without a clear answer", () => {
  test.each(["lost", "wait"] as const)("is found when it was made (%s)", async (outcome) => {
    const go = await openEsimgoAdapter();
    await go.steer({ on: "order", outcome, delay_ms: 4_000 });
    const unit = go.purchase(BRITAIN);
    expect(await unit.run()).toMatchObject({ kind: "unknown", waitMs: outcome === "lost" ? 2_000 : 1_000 });
    expect(await unit.end()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("is found in the list where the inventory does not show it yet", async () => {
    let hides = true;
    const go = await openEsimgoAdapter({
      orders: "envelope",
      instead: ({ path }) => (path === "/inventory" && hides ? { status: 200, body: { bundles: [] } } : null),
    });
    // An order that is known as another purchase's is not taken for it.
    await go.purchase(BRITAIN).end();
    const unit = go.purchase(BRITAIN);
    await unit.run({ crash: "fill" });
    expect(await unit.run()).toMatchObject({ kind: "unknown", reason: expect.stringContaining("no order is found") });
    await go.call("POST", "/orders", intoInventory);
    expect(await unit.end()).toEqual(BOUGHT);
    hides = false;
    expect(await go.holdings()).toEqual({ units: 2, spares: 0, esims: 2 });
  });

  test("is never made a second time: after the look-ups people decide", async () => {
    const go = await openEsimgoAdapter();
    await go.steer({ on: "order", outcome: "busy" });
    const unit = go.purchase(BRITAIN);
    const began = go.clock.now();
    expect(await unit.end()).toMatchObject({ kind: "lost", reason: expect.stringContaining("no order is found") });
    expect(go.clock.now() - began).toBeGreaterThan(10 * 60_000);
    expect(await go.holdings()).toEqual({ units: 0, spares: 0, esims: 0 });
    expect(await unit.run()).toMatchObject({ kind: "lost" });
    // It comes to be after all: the retry takes it.
    await go.call("POST", "/orders", intoInventory);
    expect(await unit.run()).toMatchObject({ kind: "bought" });
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("is for people where nothing answers for 49 minutes, and found once something does", async () => {
    let down = false;
    const go = await openEsimgoAdapter({
      instead: () => (down ? { status: 500, body: { message: "down" } } : null),
    });
    await go.steer({ on: "order", outcome: "lost" });
    const unit = go.purchase(BRITAIN);
    await unit.run();
    down = true;
    const began = go.clock.now();
    expect(await unit.run()).toMatchObject({ kind: "unknown", reason: "500, down", waitMs: 5_000 });
    const reason = "the provider could not be asked about it: 500, down";
    expect(await unit.end()).toMatchObject({ kind: "lost", reason });
    expect(Math.round((go.clock.now() - began) / 60_000)).toBe(49);
    expect(await unit.run()).toMatchObject({ kind: "lost", reason });
    down = false;
    expect(await unit.run()).toMatchObject({ kind: "bought" });
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("that is in the inventory and cannot be taken for want of a connection is for people as well", async () => {
    const go = await openEsimgoAdapter();
    const unit = go.purchase(BRITAIN);
    const away = { url: "http://127.0.0.1:1/v2.5", at: "apply" };
    let step = await unit.run(away);
    for (let nth = 0; nth < 40 && step.kind === "unknown"; nth++) {
      go.clock.advance(step.waitMs);
      step = await unit.run(away);
    }
    expect(step).toMatchObject({
      kind: "lost",
      reason: expect.stringContaining("could not be asked about it: no conn"),
    });
    expect(await unit.end()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test.each([
    ["another form", { status: 200, body: { ok: true } }],
    ["another status", { status: 200, body: { status: "failed", orderReference: "a", order: [] } }],
    ["no JSON", { status: 400, body: "<html>" }],
    ["no words", { status: 400, body: {} }],
    ["an unlisted status", { status: 409, body: { message: "conflict" } }],
    ["a fault", { status: 500, body: { message: "fault" } }],
  ])("is unknown: %s", async (_, answer) => {
    const go = await openEsimgoAdapter({
      instead: ({ method, path, body }) =>
        method === "POST" && path === "/orders" && body.toString().includes("transaction") ? answer : null,
    });
    expect(await go.purchase(BRITAIN).run()).toMatchObject({ kind: "unknown", waitMs: 2_000 });
  });
});

describe("before its order is sent", () => {
  test("a process that ended leaves nothing to look for: the next run begins", async () => {
    const go = await openEsimgoAdapter();
    const unit = go.purchase(BRITAIN);
    expect(await unit.run({ crash: "hold" })).toEqual({ kind: "note", memory: null, hold: BRITAIN });
    expect(unit.memory()).toBeNull();
    expect(await unit.run()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test.each(["inventory", "price"])("an answer about the %s that is lost leaves nothing to look for", async (about) => {
    let answers = about === "inventory" ? 0 : 1;
    const go = await openEsimgoAdapter({
      instead: () => {
        answers -= 1;
        return answers === -1 ? { status: 502, body: "<html>" } : null;
      },
    });
    const unit = go.purchase(BRITAIN);
    expect(await unit.run()).toEqual({ kind: "unsent", reason: "502" });
    expect(unit.memory()).toBeNull();
    expect(await unit.run()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("a connection that is lost between the price and the order leaves nothing to look for", async () => {
    const go = await openEsimgoAdapter();
    const unit = go.purchase(BRITAIN);
    expect(await unit.run({ url: "http://127.0.0.1:1/v2.5", at: "fill" })).toMatchObject({ kind: "unsent" });
    expect(unit.memory()).toBeNull();
    expect(await unit.run()).toEqual(BOUGHT);
  });
});

describe("what is not the purchase's fault", () => {
  test("a connection that was never made is not sent; once it is bought it goes on", async () => {
    const go = await openEsimgoAdapter();
    const url = "http://127.0.0.1:1/v2.5";
    expect(await go.purchase(BRITAIN).run({ url })).toMatchObject({ kind: "unsent" });
    expect(await go.purchase(BRITAIN).run({ url, at: "fill" })).toMatchObject({ kind: "unsent" });
    expect(go.double.state().bought).toBe(0);
    const unit = go.purchase(BRITAIN);
    expect(await unit.run({ url, at: "apply" })).toMatchObject({ kind: "unknown" });
    expect(await unit.end()).toEqual(BOUGHT);
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
    await go.call("POST", "/orders", intoInventory);
    expect(await go.purchase(BRITAIN).run({ url, at: "apply" })).toMatchObject({ kind: "unsent" });
  });

  test.each([1, 2, 3, 4])("a limit of %i requests delays it, and nothing is looked for", async (tokens) => {
    let left = tokens;
    const go = await openEsimgoAdapter({
      pace: 1,
      instead: () => {
        left -= 1;
        return left < 0
          ? { status: 429, headers: { "retry-after": "1" }, body: { message: "Too many requests" } }
          : null;
      },
    });
    const unit = go.purchase(BRITAIN);
    const step = await unit.run();
    expect(step).toMatchObject({ kind: tokens < 3 ? "busy" : "wait" });
    left = 100;
    go.clock.advance(1_000);
    expect(await unit.end()).toEqual(BOUGHT);
    expect(go.requests.filter((one) => one === "GET /orders")).toEqual([]);
    left = 100;
    expect(await go.holdings()).toEqual({ units: 1, spares: 0, esims: 1 });
  });

  test("calls count as the provider counts them", async () => {
    const go = await openEsimgoAdapter({ pace: 0, tokens: 10 });
    const kinds: string[] = [];
    for (let nth = 0; nth < 3; nth++) kinds.push((await go.purchase(BRITAIN).run()).kind);
    expect(kinds).toEqual(["bought", "bought", "busy"]);
    expect(go.requests).toHaveLength(10);
  });

  test("install data that is late is waited for", async () => {
    let late = 3;
    const go = await openEsimgoAdapter({
      instead: ({ method, path }) => {
        if (method !== "GET" || !/^\/esims\/\d+$/.test(path) || late === 0) return null;
        late -= 1;
        return { status: 503, headers: { "retry-after": "1" }, body: { message: "processing" } };
      },
    });
    const unit = go.purchase(BRITAIN);
    expect(await unit.run()).toMatchObject({ kind: "wait", waitMs: 5_000 });
    expect(await unit.end()).toEqual(BOUGHT);
  });

  test("a memory that is not understood is people's", async () => {
    const go = await openEsimgoAdapter();
    const ask = {
      plan: BRITAIN,
      days: null,
      reference: "r",
      cost: null,
      fresh: false,
      known: async () => new Set<string>(),
    };
    const memory = { stage: "later" };
    expect(await go.provider.buy({ ...ask, memory })).toMatchObject({ kind: "lost", memory });
    const esim = { iccid: "8944538500000000000", reference: null };
    expect(await go.provider.topUp({ ...ask, memory, esim })).toMatchObject({ kind: "lost", memory });
    expect(go.requests).toEqual([]);
  });
});

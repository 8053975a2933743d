import { describe, expect, test } from "vitest";
import { costOf } from "../src/core/kernel/cost.ts";
import type { Memory } from "../src/core/store/schema/values.ts";
import type { ProviderAnswer } from "../src/daemon/simulators/provider.ts";
import { answering, asked, REFERENCE, run, startAdapter, TOKEN } from "./support/providers/airalo-adapter.ts";

const ICCID = /^8944465\d{12}$/;
const noted = { stage: "order", token: TOKEN, looks: 0, silent: 0 };

/** A list of orders in which the rows of the double are changed. */
function listing(change: (rows: object[]) => unknown[], more: object = {}) {
  return (ordinary: () => ProviderAnswer) => {
    const { body } = ordinary();
    // biome-ignore lint/suspicious/noExplicitAny: the double's list
    const list = body as any; // its rows are in data
    return { status: 200, body: { ...list, data: change(list.data), ...more } };
  };
}

/** A purchase whose first order ended unknown, and the steps after it. */
async function afterUnknown(given: Parameters<typeof asked>[0] = {}) {
  const started = await startAdapter();
  const { airalo, script, clock } = started;
  script("POST", "/orders", (ordinary) => {
    ordinary();
    return "lost";
  });
  const { last, memory } = await run(airalo.buy, asked(given));
  expect(last).toMatchObject({ kind: "unknown", waitMs: 2_000, memory: noted });
  const next = async (kept: Memory | null = memory) => {
    clock.advance(10_000);
    return airalo.buy(asked({ ...given, memory: kept }));
  };
  return { ...started, memory, next };
}

describe("a purchase", () => {
  test("notes what it can be looked up by, then orders one and has its eSIM", async () => {
    const { airalo, double, clock, requests } = await startAdapter();
    const first = await airalo.buy(asked());
    expect(first).toEqual({ kind: "note", memory: { ...noted, since: clock.now() } });
    expect(requests.map(({ path }) => path)).toEqual(["/token"]);
    const { last } = await run(airalo.buy, asked());
    expect(last).toEqual({
      kind: "bought",
      esim: {
        iccid: expect.stringMatching(ICCID),
        activationCode: expect.stringMatching(/^LPA:1\$rsp\.airalo-double\.example\$[0-9A-F-]{20,}$/),
        confirmationCode: null,
        reference: expect.stringMatching(/^\d+$/),
      },
      reference: expect.stringMatching(/^20260302-\d+$/),
      cost: 36_000,
    });
    expect(double.state()).toEqual({ bought: 1, balance: "996.4000" });
    const order = requests.find(({ path }) => path === "/orders")?.body ?? "";
    for (const part of [`name="description"\r\n\r\n${TOKEN}`, 'name="quantity"\r\n\r\n1\r\n']) {
      expect(order).toContain(part);
    }
    expect(order).not.toContain("email");
  });

  test("keeps a confirmation code", async () => {
    const { airalo } = await startAdapter();
    const { last } = await run(airalo.buy, asked({ plan: "lotus-10days-50gb" }));
    expect(last).toMatchObject({ kind: "bought", esim: { confirmationCode: expect.stringMatching(/^\d{4}$/) } });
    expect(last).toMatchObject({ esim: { activationCode: expect.not.stringMatching(/\$1$/) } });
  });

  test("is not made where the catalog, read once an hour for all, shows a higher cost", async () => {
    const { airalo, double, clock, requests } = await startAdapter();
    const reads = () => requests.filter(({ path }) => path === "/packages").length;
    const buy = async (cents: number) => {
      clock.advance(1_000);
      return (await run(airalo.buy, asked({ cost: costOf(cents * 100) }))).last;
    };
    const both = await Promise.all([buy(359), buy(360)]);
    expect(both).toMatchObject([
      {
        ...{ kind: "refused", code: "price", because: "plan", message: "The price is another one now." },
        detail: "it costs 3.6000 by now, and 3.5900 by its source: sync its catalog",
      },
      { kind: "bought", cost: 36_000 },
    ]);
    expect(await buy(361)).toMatchObject({ kind: "bought" });
    expect([reads(), double.state().bought]).toEqual([1, 2]);
    clock.advance(3_600_000);
    expect(await buy(359)).toMatchObject({ kind: "refused", code: "price" });
    expect([reads(), double.state().bought]).toEqual([2, 2]);
    expect(await airalo.buy(asked({ cost: costOf(1), plan: "no-such-plan" }))).toMatchObject({ kind: "note" });
  });

  test("keeps in mind what an order cost, where that is more than the catalog showed", async () => {
    const { airalo, script, clock } = await startAdapter();
    const cheaper = (ordinary: () => ProviderAnswer) => {
      const text = JSON.stringify(ordinary().body);
      return {
        status: 200,
        body: text.replaceAll('"net_price":3.6', '"net_price":3.5').replaceAll('"USD":3.6', '"USD":3.5'),
      };
    };
    script("GET", "/packages", cheaper);
    const cost = costOf(35_000);
    expect((await run(airalo.buy, asked({ cost }))).last).toMatchObject({ kind: "bought", cost: 36_000 });
    clock.advance(1_000);
    expect((await run(airalo.buy, asked({ cost }))).last).toMatchObject({ kind: "refused", code: "price" });
  });

  test.each([
    ["no answer", 500, undefined, { kind: "unsent", reason: "status 500" }],
    ["a limit", 429, { message: "Too many" }, { kind: "busy" }],
  ])("is not made where the catalog has %s", async (_, status, body, end) => {
    const { airalo, script, double } = await startAdapter();
    script("GET", "/packages", answering(status, body));
    const cost = costOf(36_000);
    expect(await run(airalo.buy, asked({ cost }))).toMatchObject({ last: end, memory: null });
    expect(double.state().bought).toBe(0);
  });

  test.each([
    ["test-insufficient-balance-7days-1gb", "11", "account"],
    ["test-maintenance-mode-7days-1gb", "13", "plan"],
    ["test-disabled-top-up-7days-1gb", "23", "plan"],
    ["test-not-enough-7days-1gb", "33", "plan"],
    ["test-out-of-stock-7days-1gb", "34", "plan"],
    ["no-such-plan", "validation", "plan"],
  ])("of %s is refused with %s, because of the %s", async (plan, code, because) => {
    const { airalo, double } = await startAdapter();
    const { last } = await run(airalo.buy, asked({ plan }));
    expect(last).toEqual({ kind: "refused", code, because, message: expect.stringMatching(/^.{10,300}$/) });
    expect(double.state().bought).toBe(0);
  });

  test.each([
    [422, { code: 14, reason: "Invalid checksum" }, "14", "account"],
    [422, { code: 43, reason: "Bad request." }, "43", "plan"],
    [422, { code: "73", reason: "The eSIM has been recycled." }, "73", "plan"],
    [403, { code: 89, reason: "The address is not allowed" }, "89", "account"],
    [403, "<html>blocked</html>", "403", "account"],
    [404, { data: [], meta: { message: "not found" } }, "404", "account"],
  ])("that is answered with %s %j is refused with %s", async (status, body, code, because) => {
    const { airalo, script, double } = await startAdapter();
    script("POST", "/orders", answering(status, body));
    expect((await run(airalo.buy, asked())).last).toMatchObject({ kind: "refused", code, because });
    expect(double.state().bought).toBe(0);
  });

  test.each([
    [422, { code: 53, reason: "Something unexpected happened." }],
    [422, { code: 999, reason: "A new one." }],
    [422, { reason: "Only a reason." }],
    [422, { data: [], meta: { message: "no fields" } }],
    [400, { message: "bad" }],
    [302, undefined],
    [500, { code: 11, reason: "Insufficient credit" }],
    [502, "<html>bad gateway</html>"],
    [504, undefined],
    [200, "no JSON"],
    [200, { data: { id: 7, code: "20260302-000007", sims: [] } }],
    [200, { data: { id: 7, sims: [{ id: 8, iccid: "89444650", lpa: "a.example", matching_id: "A" }] } }],
    [200, { code: 11, reason: "Insufficient credit" }],
  ])("that is answered with %s %j may be bought", async (status, body) => {
    const { airalo, script } = await startAdapter();
    script("POST", "/orders", answering(status, body));
    expect((await run(airalo.buy, asked())).last).toMatchObject({ kind: "unknown", waitMs: 2_000, memory: noted });
  });

  test("is unsent where there is no connection, with a token or without", async () => {
    const { airalo, close, clock } = await startAdapter();
    await airalo.balance();
    clock.advance(1_000);
    await close();
    expect((await run(airalo.buy, asked())).last).toMatchObject({ kind: "unsent", reason: /ECONNREFUSED/ });
    clock.advance(86_400_000);
    expect((await run(airalo.buy, asked())).last).toMatchObject({ kind: "unsent", reason: /ECONNREFUSED/ });
  });

  test("notes nothing where no token comes: a process that ends meanwhile leaves nothing to look for", async () => {
    const { airalo, script, double } = await startAdapter();
    script("POST", "/token", answering(503, undefined));
    expect(await run(airalo.buy, asked())).toMatchObject({ last: { kind: "unsent" }, memory: null });
    expect(await run(airalo.buy, asked())).toMatchObject({ last: { kind: "bought" } });
    expect(double.state().bought).toBe(1);
  });

  test("is unsent where no token came", async () => {
    const { airalo, script, requests } = await startAdapter();
    for (const one of [answering(503, undefined), answering(200, { data: {} }), () => "lost" as const]) {
      script("POST", "/token", one);
    }
    const ends = [];
    for (let run1 = 0; run1 < 3; run1++) ends.push((await run(airalo.buy, asked())).last);
    expect(ends).toEqual([
      { kind: "unsent", reason: "no token (status 503)" },
      { kind: "unsent", reason: "no token (its answer has another form than its reference says)" },
      { kind: "unsent", reason: "no token (no whole answer)" },
    ]);
    expect(requests.map(({ path }) => path)).toEqual(["/token", "/token", "/token"]);
  });
});

describe("after an unknown outcome", () => {
  test("an order that was made is found and never made again", async () => {
    const { next, double, requests } = await afterUnknown();
    expect(await next()).toMatchObject({
      ...{ kind: "bought", reference: expect.stringMatching(/^20260302-\d+$/) },
      // Lists do not say what it cost.
      ...{ esim: { iccid: expect.stringMatching(ICCID), reference: expect.any(String) }, cost: null },
    });
    expect(double.state().bought).toBe(1);
    const query = Object.fromEntries(requests.find(({ method, path }) => method + path === "GET/orders")?.query ?? []);
    expect(query).toMatchObject({
      "filter[description]": TOKEN,
      "filter[created_at]": "2026-03-01 - 2026-03-03",
      include: "sims,status",
    });
  });

  test("an order that the list has late is looked for again, and found", async () => {
    const { next, script, double } = await afterUnknown();
    const empty = listing(() => []);
    script("GET", "/orders", empty, empty);
    const first = await next();
    expect(first).toMatchObject({ kind: "unknown", waitMs: 5_000, memory: { looks: 1, silent: 0 } });
    const second = await next(keptBy(first));
    expect(second).toMatchObject({ kind: "unknown", waitMs: 10_000, memory: { looks: 2, silent: 0 } });
    expect(await next(keptBy(second))).toMatchObject({ kind: "bought" });
    expect(double.state().bought).toBe(1);
  });

  test("an order that no list has is lost after a quarter of an hour; a retry looks once and never buys", async () => {
    const { next, script, double } = await afterUnknown();
    script("GET", "/orders", ...Array(9).fill(listing(() => [])));
    const waits = [2_000];
    let step = await next();
    while (step.kind === "unknown") {
      waits.push(step.waitMs);
      step = await next(keptBy(step));
    }
    expect(waits.reduce((sum, one) => sum + one)).toBe(827_000);
    expect(step).toMatchObject({
      kind: "lost",
      reason: expect.stringContaining("no such order"),
      memory: { looks: 8 },
    });
    step = await next(keptBy(step));
    expect(step).toMatchObject({ kind: "lost", memory: { looks: 9 } });
    expect(await next(keptBy(step))).toMatchObject({ kind: "bought" });
    expect(double.state().bought).toBe(1);
  });

  test("a crash between note and request is looked up, and not sent", async () => {
    const { airalo, clock, double } = await startAdapter();
    const memory = { ...noted, since: clock.now() };
    expect(await airalo.buy(asked({ memory }))).toMatchObject({ kind: "unknown", waitMs: 5_000, memory: { looks: 1 } });
    expect(double.state().bought).toBe(0);
  });

  test("a description that is only like the own one is another order", async () => {
    const { airalo, clock, double } = await startAdapter();
    await run(airalo.buy, asked({ reference: `${REFERENCE}-1` }));
    clock.advance(1_000);
    const memory = { ...noted, since: clock.now() };
    expect(await airalo.buy(asked({ memory }))).toMatchObject({ kind: "unknown", memory: { looks: 1 } });
    expect(double.state().bought).toBe(1);
  });

  test("two orders with the description were bought twice", async () => {
    const { next, script } = await afterUnknown();
    script(
      "GET",
      "/orders",
      listing(([row]) => [row, { ...row, id: 7, code: "20260302-000007" }]),
    );
    expect(await next()).toMatchObject({
      ...{ kind: "lost", reason: expect.stringMatching(/more than once: orders 20260302-\d+, 20260302-000007/) },
    });
    script(
      "GET",
      "/orders",
      listing(([row]) => [row, row]),
    );
    expect(await next()).toMatchObject({ kind: "bought" });
  });

  test.each(["failed", "refunded", "partially_refunded"])("an order that is %s is for people", async (slug) => {
    const { next, script } = await afterUnknown();
    script(
      "GET",
      "/orders",
      listing(([row]) => [{ ...row, status: { name: slug, slug } }]),
    );
    expect(await next()).toMatchObject({ kind: "lost", reason: expect.stringContaining(`is ${slug}`) });
  });

  test("an order that is listed without its eSIM is read by its id", async () => {
    const { next, script, requests } = await afterUnknown();
    script(
      "GET",
      "/orders",
      listing(([row]) => [{ ...row, sims: undefined }]),
    );
    expect(await next()).toMatchObject({ kind: "bought", esim: { iccid: expect.stringMatching(ICCID) } });
    expect(requests.at(-1)?.path).toMatch(/^\/orders\/\d+$/);
  });

  test.each([
    ["answers 500", answering(500, undefined)],
    ["answers 53", answering(422, { code: 53, reason: "Something unexpected happened." })],
    ["refuses", answering(403, { code: 89, reason: "The address is not allowed" })],
    ["is no list", answering(200, { data: {} })],
    ["is lost", () => "lost" as const],
    ["shows a part of many others", listing(() => [{ id: 1, description: "x" }], { links: { next: "https://x/2" } })],
    ["shows the order in another form", listing(([row]) => [{ ...row, id: null }])],
  ])("a look-up that %s counts for nothing", async (_, end) => {
    const { next, script } = await afterUnknown();
    script("GET", "/orders", end);
    const step = await next();
    expect(step).toMatchObject({ kind: "unknown", memory: { looks: 0, silent: 1 } });
    expect(await next(keptBy(step))).toMatchObject({ kind: "bought" });
  });

  test("an order that cannot be looked up at all is for people in the end", async () => {
    const { next, script, memory } = await afterUnknown();
    script("GET", "/orders", answering(500, undefined));
    const late = { ...memory, silent: 14 };
    const reason = "the provider could not be asked about it: status 500";
    expect(await next(late)).toMatchObject({ kind: "lost", reason });
    expect(await next({ ...late, silent: 15 })).toMatchObject({ kind: "bought" });
  });

  test("a memory that is not understood is for people", async () => {
    const { airalo, requests } = await startAdapter();
    expect(await airalo.buy(asked({ memory: { stage: "else" }, fresh: true }))).toMatchObject({ kind: "lost" });
    expect(requests).toEqual([]);
  });
});

/** What a step has kept. */
function keptBy(step: { kind: string; memory?: Memory | null }): Memory | null {
  return step.memory ?? null;
}

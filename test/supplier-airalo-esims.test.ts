import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { costOf } from "../src/core/kernel/cost.ts";
import type { TopupAsk } from "../src/core/supply/provider.ts";
import { answering, asked, run, startAdapter, TOKEN } from "./support/providers/airalo-adapter.ts";

/** The adapter with an eSIM that was bought. */
async function withEsim(plan = "hinode-7days-1gb") {
  const started = await startAdapter();
  const { last } = await run(started.airalo.buy, asked({ plan, reference: "0199a0b1-1111-7000-8000-0000000000bb" }));
  if (last.kind !== "bought") throw new Error(`it was not bought: ${last.kind}`);
  started.clock.advance(1_000);
  const { iccid, reference } = last.esim;
  const play = (played: object) => started.double.play({ iccid, ...played }, started.clock.now());
  return { ...started, esim: { iccid, reference }, play };
}

describe("the catalog", () => {
  test("has each package once at its net price, without top-ups", async () => {
    const { airalo } = await startAdapter();
    const plans = (await airalo.catalog()).plans;
    expect(plans).toHaveLength(17);
    expect(plans.find(({ plan }) => plan === "hinode-7days-1gb")).toEqual({
      ...{ plan: "hinode-7days-1gb", name: "Japan 1 GB - 7 Days", cost: 36_000, currency: "USD" },
      ...{ coverage: ["JP"], region: null, dataMb: 1024, unlimited: false, validityDays: 7 },
      ...{ daily: false, voice: false },
      ...{ speed: "4G/5G", networks: ["Hinode"], activation: "at its first use", topup: false },
      notes: ["To be installed within 365 days"],
    });
    expect(plans.find(({ plan }) => plan === "hinode-unlimited-7days")).toMatchObject({
      ...{ dataMb: 0, unlimited: true, validityDays: 7 },
      notes: [expect.stringMatching(/^Fair use: Lower speed/), "To be installed within 365 days"],
    });
    expect(plans.find(({ plan }) => plan === "continental-7days-1gb")).toMatchObject({
      ...{ region: "Europe", coverage: ["DE", "ES", "FR", "GB", "IT", "PT"] },
    });
    expect(plans.find(({ voice }) => voice)?.plan).toBe("albion-air-30days-10gb");
  });

  const pack = { id: "a-7days-1gb", type: "sim", title: "1 GB", amount: 1024, day: 7, price: "4.50", net_price: null };
  const operator = { countries: [{ country_code: "AU" }, { country_code: "XX" }], coverages: [] };
  const catalog = (given: object[], more: object = {}) => ({
    ...{
      data: [{ slug: "au", country_code: "AU", title: "Australia", operators: [{ ...operator, packages: given }] }],
    },
    ...more,
  });
  test.each([
    [{ countries: [], coverages: [{ code: "FR" }, { code: "Kosovo X" }] }, ["FR"]],
    [{ countries: null, coverages: undefined }, ["AU"]],
  ])("takes the coverage of %j as %j", async (lists, coverage) => {
    const { airalo, script } = await startAdapter();
    const body = catalog([{ ...pack, net_price: 3 }]);
    const [place] = body.data;
    const operators = [{ ...place?.operators[0], ...lists }];
    script("GET", "/packages", answering(200, { ...body, data: [{ ...place, operators }] }));
    expect((await airalo.catalog()).plans).toMatchObject([{ coverage }]);
  });

  const discounted = (discount_percentage: unknown) => ({
    pricing: { model: "discount_pricing", discount_percentage },
  });

  test.each([
    ["net price", { ...pack, net_price: 3.605 }, {}, 36_050],
    ["net price as a text", { ...pack, net_price: "3.6" }, {}, 36_000],
    ["table of the account's currency", { ...pack, net_price: 9, prices: { net_price: { USD: 3.5 } } }, {}, 35_000],
    ["empty table", { ...pack, net_price: 9, prices: { net_price: [] } }, {}, 90_000],
    ["discount", pack, discounted(12.5), 39_375],
    ["discount that is rounded half up", { ...pack, price: 0.0003 }, discounted(50), 2],
    ["discount as a text", pack, discounted("100"), 0],
  ])("takes the cost from the %s", async (_, given, more, cost) => {
    const { airalo, script } = await startAdapter();
    script("GET", "/packages", answering(200, catalog([given], more)));
    expect((await airalo.catalog()).plans).toMatchObject([{ plan: "a-7days-1gb", cost, coverage: ["AU"] }]);
  });

  test.each([
    ["a cost", { ...pack, prices: { net_price: { EUR: 3 } } }, {}, "it has no cost in USD"],
    ["a discount", pack, discounted(null), "it has no cost in USD"],
    ["a discount of a hundred at most", pack, discounted(101), "it has no cost in USD"],
    ["days", { ...pack, net_price: 3, day: 0 }, {}, "day must be a whole number of at least 1"],
    ["data", { ...pack, net_price: 3, amount: 0 }, {}, "amount must be a whole number of megabytes"],
    ["an id", { ...pack, net_price: 3, id: "" }, {}, "id must not be empty"],
  ])("leaves out what is without %s, and names it", async (_, given, more, reason) => {
    const { airalo, script } = await startAdapter();
    const whole = { ...pack, id: "b", net_price: 3, prices: { net_price: { USD: 3 } } };
    script("GET", "/packages", answering(200, catalog([given, whole], more)));
    expect(await airalo.catalog()).toMatchObject({
      plans: [{ plan: "b" }],
      unread: [{ row: 1, plan: given.id || null, name: "1 GB", reason }],
    });
  });

  test.each([
    ["a page of it", catalog([{ ...pack, net_price: 3 }], { meta: { last_page: 2 } })],
    ["nothing that is understood", catalog([{ ...pack, day: null }])],
    ["a page in another form", { data: { 25: {} } }],
    ["no JSON", "<html>"],
  ])("is refused where the answer is %s", async (_, body) => {
    const { airalo, script } = await startAdapter();
    script("GET", "/packages", answering(200, body));
    await expect(airalo.catalog()).rejects.toMatchObject({ slug: "supplier_unreachable", status: 503 });
  });

  test("is not there while the provider is not", async () => {
    const { airalo, close, clock } = await startAdapter();
    await airalo.balance();
    clock.advance(1_000);
    await close();
    await expect(airalo.catalog()).rejects.toMatchObject({ message: /cannot be reached: no connection/ });
  });
});

describe("a top-up", () => {
  const topup = (esim: TopupAsk["esim"], given: Partial<TopupAsk> = {}): TopupAsk => ({
    ...asked({ plan: "hinode-7days-1gb-topup", ...given }),
    esim,
  });

  test("is offered by eSIM, and put on it", async () => {
    const { airalo, esim, double, clock } = await withEsim();
    expect(await airalo.topupPlans(esim)).toMatchObject([
      { plan: "hinode-7days-1gb-topup", name: "1 GB - 7 Days", cost: 36_000, topup: true },
      { plan: "hinode-30days-3gb-topup", dataMb: 3072 },
      { plan: "hinode-unlimited-7days-topup", unlimited: true },
    ]);
    expect(await airalo.fits(esim, "hinode-7days-1gb-topup")).toBe(true);
    expect(await airalo.fits(esim, "hinode-7days-1gb")).toBe(false);
    clock.advance(1_000);
    const { last } = await run(airalo.topUp, topup(esim));
    expect(last).toEqual({ kind: "applied", reference: expect.stringMatching(/^20260302-\d+$/), cost: 36_000 });
    expect(double.state().bought).toBe(2);
    expect(await airalo.look([esim])).toMatchObject([{ totalMb: 2048 }]);
  });

  test("is not put on it where it is offered at a higher cost by now", async () => {
    const { airalo, esim, double, clock } = await withEsim();
    clock.advance(1_000);
    const { last } = await run(airalo.topUp, topup(esim, { cost: costOf(35_900) }));
    expect(last).toMatchObject({ kind: "refused", code: "price", because: "plan" });
    expect((await run(airalo.topUp, topup(esim, { cost: costOf(36_000) }))).last).toMatchObject({ kind: "applied" });
    expect(double.state().bought).toBe(2);
  });

  test("is looked up after an unknown outcome, and never bought again", async () => {
    const { airalo, esim, double, clock, script } = await withEsim();
    script("POST", "/orders/topups", (ordinary) => {
      ordinary();
      return "lost";
    });
    const { last, memory } = await run(airalo.topUp, topup(esim));
    expect(last).toMatchObject({ kind: "unknown", memory: { stage: "order", token: TOKEN } });
    clock.advance(2_000);
    expect(await airalo.topUp(topup(esim, { memory }))).toMatchObject({ kind: "applied", cost: null });
    expect(double.state().bought).toBe(2);
  });

  test("is lost where nothing shows it", async () => {
    const { airalo, esim, clock, double } = await withEsim();
    const memory = { stage: "order", token: TOKEN, since: clock.now(), looks: 7, silent: 0 };
    expect(await airalo.topUp(topup(esim, { memory }))).toMatchObject({ kind: "lost" });
    expect(double.state().bought).toBe(1);
  });

  test.each([
    ["test-insufficient-balance-7days-1gb", "11", "account"],
    ["test-disabled-top-up-7days-1gb", "23", "plan"],
    ["prairie-mobile-7days-1gb-topup", "validation", "plan"],
  ])("of %s is refused with %s", async (plan, code, because) => {
    const { airalo, esim } = await withEsim();
    expect((await run(airalo.topUp, topup(esim, { plan }))).last).toMatchObject({ kind: "refused", code, because });
  });

  test("of a recycled eSIM is refused, and not offered", async () => {
    const { airalo, esim, play } = await withEsim();
    play({ state: "deleted" });
    expect(await airalo.topupPlans(esim)).toEqual([]);
    expect((await run(airalo.topUp, topup(esim))).last).toMatchObject({ kind: "refused", code: "73", because: "plan" });
    expect(await airalo.topupPlans({ iccid: "8944465000000000000", reference: null })).toEqual([]);
  });

  test("is not offered where the operator has none", async () => {
    const { airalo, esim } = await withEsim("bosporus-7days-1gb");
    expect(await airalo.topupPlans(esim)).toEqual([]);
  });
});

describe("what is known of an eSIM", () => {
  const report = { install: null, activatedAt: null, country: null, network: null };

  test.each([
    ["before its use", {}, { status: "inactive", usedMb: 0, totalMb: 1024, expiresAt: null }],
    [
      "in use",
      { state: "in_use", used_mb: 300 },
      { status: "active", usedMb: 300, totalMb: 1024, expiresAt: Date.parse("2026-03-09T09:30:01Z") },
    ],
    ["used up", { state: "used_up" }, { status: "used_up", usedMb: 1024, totalMb: 1024 }],
    ["expired", { state: "expired" }, { status: "expired" }],
    ["suspended", { state: "suspended" }, { status: "unknown", usedMb: null, totalMb: null }],
    ["recycled", { state: "deleted" }, { status: "unknown", usedMb: null, totalMb: null, expiresAt: null }],
  ])("%s", async (_, played, known) => {
    const { airalo, esim, play, clock } = await withEsim();
    play(played);
    expect(await airalo.look([esim])).toEqual([
      expect.objectContaining({ ...esim, ...report, ...known, at: clock.now() }),
    ]);
  });

  test("no amounts of an unlimited one, whose zeros mean nothing", async () => {
    const { airalo, esim } = await withEsim("hinode-unlimited-7days");
    expect(await airalo.look([esim])).toMatchObject([{ status: "inactive", usedMb: null, totalMb: null }]);
  });

  test("a recycled one may be refused by its code, and a state may be new", async () => {
    const { airalo, esim, script } = await withEsim();
    const path = `/sims/${esim.iccid}/usage`;
    script("GET", path, answering(422, { code: 73, reason: "It has been recycled." }));
    expect(await airalo.look([esim])).toMatchObject([{ status: "unknown", totalMb: null }]);
    const data = { status: "PAUSED", remaining: "5", total: "10", expired_at: "soon", is_unlimited: false };
    script("GET", path, answering(200, { data }));
    expect(await airalo.look([esim])).toMatchObject([{ status: "unknown", expiresAt: null }]);
    script("GET", path, answering(200, { data: { ...data, status: "ACTIVE", expired_at: "2026-03-09 10:00:00" } }));
    const expiresAt = Date.parse("2026-03-09T10:00:00Z");
    expect(await airalo.look([esim])).toMatchObject([{ status: "active", usedMb: 5, totalMb: 10, expiresAt }]);
  });

  test("nothing of one that is not the account's, or got no answer beside others", async () => {
    const { airalo, esim, script } = await withEsim();
    const stranger = { iccid: "8944465000000000000", reference: null };
    expect(await airalo.look([stranger])).toEqual([]);
    const path = `/sims/${esim.iccid}/usage`;
    script("GET", path, answering(500, undefined), answering(500, undefined), answering(200, { data: { status: 7 } }));
    expect(await airalo.look([esim, stranger])).toEqual([]);
    await expect(airalo.look([esim])).rejects.toMatchObject({ slug: "supplier_unreachable", message: /status 500/ });
    await expect(airalo.look([esim])).rejects.toMatchObject({ message: /not understood/ });
    expect(await airalo.look([])).toEqual([]);
  });

  test("ten times a minute", async () => {
    const { airalo, esim, clock } = await withEsim();
    for (let times = 0; times < 10; times++) {
      await airalo.look([esim]);
      clock.advance(1_000);
    }
    await expect(airalo.look([esim])).rejects.toMatchObject({ message: "Airalo's limits are used up for 50 s." });
    await expect(airalo.balance()).resolves.toMatchObject({ currency: "USD" });
  });
});

describe("after the sale", () => {
  test("a refund is requested, and people decide", async () => {
    const { airalo, esim, requests, double } = await withEsim();
    expect(await airalo.refund(esim)).toEqual({
      outcome: "requested",
      detail: expect.stringContaining("people decide"),
      reference: expect.stringMatching(/^\d+$/),
    });
    const sent = requests.at(-1)?.body ?? "";
    for (const part of [`name="iccids[]"\r\n\r\n${esim.iccid}`, 'name="reason"\r\n\r\nOTHERS', "by the operator"]) {
      expect(sent).toContain(part);
    }
    expect(double.state().bought).toBe(1);
  });

  test.each([
    ["not_available", 422, { data: [], meta: { message: "The following ICCIDs do not belong to your company: 1" } }],
    ["not_available", 422, { data: { notes: "too long" }, meta: { message: "the parameter is invalid" } }],
    ["unknown", 422, { code: 53, reason: "Something unexpected happened." }],
    ["unknown", 403, { code: 89, reason: "The address is not allowed" }],
    ["unknown", 500, undefined],
    ["unknown", 202, { data: {} }],
    ["unknown", 429, { message: "Too Many Attempts." }],
  ])("a refund is %s after %s %j", async (outcome, status, body) => {
    const { airalo, esim, script } = await withEsim();
    script("POST", "/refund", answering(status, body, { "retry-after": "60" }));
    expect(await airalo.refund(esim)).toEqual({ outcome, detail: expect.stringMatching(/^Airalo.{10,}\.?$/) });
  });

  test("there is no replacement", async () => {
    const { airalo, esim, requests } = await withEsim();
    const calls = requests.length;
    expect(await airalo.replace(esim)).toMatchObject({ outcome: "not_available" });
    expect(requests).toHaveLength(calls);
  });
});

describe("the account", () => {
  test.each([
    ["1000.0000", undefined],
    ["12.5000", { name: "balance", availableBalance: { amount: 12.5, currency: "usd" } }],
    ["-3.2500", [{ name: "balance", availableBalance: { amount: "-3.25", currency: "USD" } }]],
  ])("holds %s", async (amount, balances) => {
    const { airalo, script } = await startAdapter();
    if (balances !== undefined) script("GET", "/balance", answering(200, { data: { balances } }));
    expect(await airalo.balance()).toEqual({ currency: "USD", balance: Number(amount.replace(".", "")) });
  });

  test.each([{ balances: [] }, { balances: { availableBalance: { amount: "much", currency: "USD" } } }, {}])(
    "shows no balance in %j",
    async (data) => {
      const { airalo, script } = await startAdapter();
      script("GET", "/balance", answering(200, { data }), answering(200, { data }));
      await expect(airalo.balance()).rejects.toMatchObject({ slug: "supplier_unreachable" });
      expect(await airalo.check()).toContainEqual(expect.objectContaining({ name: "balance", ok: false }));
    },
  );

  test("is checked: credential, balance, clock", async () => {
    const { airalo, requests } = await startAdapter();
    await airalo.balance();
    expect(await airalo.check()).toEqual([
      { name: "credential", ok: true, detail: expect.any(String) },
      { name: "balance", ok: true, detail: "1000.0000 USD" },
      { name: "clock", ok: true, detail: "Both clocks agree." },
    ]);
    // What a shared token shows is not that the credential still holds.
    expect(requests.filter(({ path }) => path === "/token")).toHaveLength(2);
  });

  test.each([
    [90, false, "Its clock is 90 s ahead of this machine's."],
    [-30, true, "Its clock is 30 s behind this machine's."],
    [-1, true, "Both clocks agree."],
  ])("is checked for a clock that is %s s apart", async (seconds, ok, detail) => {
    const { airalo, script, clock } = await startAdapter();
    const date = new Date(clock.now() + seconds * 1_000).toUTCString();
    script("GET", "/balance", (ordinary) => ({ ...ordinary(), headers: { date } }));
    expect(await airalo.check()).toContainEqual({ name: "clock", ok, detail });
  });

  test.each([
    ["DEMO_CLIENT:wrong", "Client authentication failed"],
    ["SOMEONE:DEMO_CLIENT_SECRET", /client_id: The selected client id is invalid/],
  ])("is not proven by %s", async (secret, words) => {
    const { node } = await startAdapter();
    expect(await node(secret).check()).toEqual([
      { name: "credential", ok: false, detail: typeof words === "string" ? words : expect.stringMatching(words) },
    ]);
  });

  test("is not proven where nothing answers", async () => {
    const { node } = await startAdapter();
    expect(await node("A:B", "http://127.0.0.1:9/v2").check()).toMatchObject([{ name: "credential", ok: false }]);
  });
});

describe("a notice", () => {
  const SECRET = "DEMO_CLIENT_SECRET";
  const sign = (body: string | Buffer, key = SECRET) => createHmac("sha512", key).update(body).digest("hex");
  const notice = (body: string, signature?: string | string[]) => ({
    headers: signature === undefined ? {} : { "airalo-signature": signature },
    body: Buffer.from(body),
    address: "203.0.113.7",
  });
  const low = { level: "90%", package_name: "a/b-7days-1gb", remaining_percentage: 10, iccid: "8944465000000000001" };
  const raw = JSON.stringify(low, null, 2);
  const php = JSON.stringify(low).replaceAll("/", "\\/");
  const about = { esims: [{ iccid: low.iccid, reference: null }] };

  test.each([
    ["the body as it came", raw, sign(raw), about],
    ["capital digits", raw, sign(raw).toUpperCase(), about],
    ["its JSON as PHP writes it", raw, sign(php), about],
    ["another kind", "{}", sign("{}"), { esims: [] }],
    ["credit", '{"message":"low","remaining":50}', sign('{"message":"low","remaining":50}'), { esims: [] }],
    ["what is no JSON", "low", sign("low"), { esims: [] }],
  ])("that signs %s is read", async (_, body, signature, read) => {
    const { airalo } = await startAdapter();
    expect(airalo.readNotice(notice(body, signature))).toEqual(read);
  });

  test.each([
    ["none", undefined],
    ["another secret's", sign(raw, "other")],
    ["another body's", sign(`${raw} `)],
    ["a short one", sign(raw).slice(2)],
    ["two", [sign(raw), sign(raw)]],
  ])("with a signature that is %s is refused", async (_, signature) => {
    const { airalo } = await startAdapter();
    expect(airalo.readNotice(notice(raw, signature))).toEqual({ refused: expect.stringContaining("airalo-signature") });
  });

  test("of the double is read", async () => {
    const { airalo, esim, double, play } = await withEsim();
    double.notify("http://127.0.0.1:9/hook");
    const [sent] = play({ used_mb: 800 }) ?? [];
    const { body = "", headers = {} } = sent ?? {};
    expect(airalo.readNotice({ headers, body: Buffer.from(body), address: "127.0.0.1" })).toEqual({
      esims: [{ iccid: esim.iccid, reference: null }],
    });
  });
});

import { describe, expect, test } from "vitest";
import { luhnValid } from "../src/core/kernel/check-digits.ts";
import { CREDENTIAL, signedInAiralo, startAiralo } from "./support/providers/airalo-caller.ts";

describe("the token", () => {
  test("is a day's, for a form or parts", async () => {
    const { send, form, signIn } = await startAiralo();
    const { status, body } = await signIn();
    expect({ status, ...body }).toMatchObject({
      ...{ status: 200, meta: { message: "success" } },
      data: { token_type: "Bearer", expires_in: 86_400, access_token: expect.stringMatching(/^\S{20,}$/) },
    });
    expect((await send("/token", form(CREDENTIAL))).status).toBe(200);
  });

  test("is refused in the provider's two forms", async () => {
    const { send, form } = await startAiralo();
    expect(await send("/token", form({ ...CREDENTIAL, client_id: "other" }))).toMatchObject({
      ...{ status: 422 },
      body: {
        data: { client_id: "The selected client id is invalid." },
        meta: { message: "the parameter is invalid" },
      },
    });
    expect(await send("/token", form({ ...CREDENTIAL, client_secret: "other" }))).toMatchObject({
      ...{ status: 401, body: { data: [], meta: { message: "Client authentication failed" } } },
    });
    expect((await send("/token", form({ client_id: "DEMO_CLIENT" }))).body.data).toEqual({
      client_secret: "The client secret field is required.",
      grant_type: "The grant type field is required.",
    });
  });

  test("is given three times a minute", async () => {
    const { clock, signIn, send, form } = await startAiralo();
    for (const left of ["2", "1", "0"]) {
      const { headers } = await signIn();
      expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["3", left]);
    }
    clock.advance(20_000);
    const refused = await send("/token", form(CREDENTIAL));
    expect(refused).toMatchObject({ status: 429, body: { message: "Too Many Attempts." } });
    expect(refused.headers.get("retry-after")).toBe("40");
    clock.advance(40_000);
    expect((await signIn()).status).toBe(200);
  });

  test("is asked for everywhere else, and ends", async () => {
    const { clock, send, signIn } = await startAiralo();
    const paths = ["/packages", "/balance", "/orders", "/sims", "/sims/1/usage", "/notifications/opt-in"];
    for (const path of paths) {
      expect(await send(path)).toMatchObject({
        status: 401,
        body: { data: [], meta: { message: expect.any(String) } },
      });
    }
    await signIn();
    expect((await send("/balance")).status).toBe(200);
    clock.advance(86_400_000);
    expect((await send("/balance")).status).toBe(401);
  });
});

describe("packages", () => {
  test("come in one answer, by destination and operator", async () => {
    const { send } = await signedInAiralo();
    const { body } = await send("/packages");
    expect(body.pricing).toEqual({ model: "net_pricing", discount_percentage: 0 });
    expect(body.meta).toMatchObject({ message: "success", current_page: 1, last_page: 1, total: body.data.length });
    const countries = body.data.filter((one: { country_code: string }) => one.country_code !== "");
    expect([countries.length >= 6, body.data.length - countries.length]).toEqual([true, 2]);
    const [japan] = body.data;
    expect(japan).toMatchObject({
      ...{ slug: "japan", country_code: "JP", title: "Japan" },
      min_price: { net_price: { USD: 3.6 }, recommended_retail_price: { USD: 4.5 } },
    });
    const [operator] = japan.operators;
    expect(operator).toMatchObject({
      ...{ type: "local", plan_type: "data", rechargeability: true, activation_policy: "first-usage" },
      ...{ install_window_days: expect.any(Number), countries: [{ country_code: "JP" }] },
      coverages: [{ code: "JP", networks: [{ name: "Hinode", types: ["LTE", "5G"] }] }],
    });
    expect(operator.packages[0]).toMatchObject({
      ...{ id: "hinode-7days-1gb", type: "sim", price: 4.5, net_price: 3.6, amount: 1024, day: 7, is_unlimited: false },
      ...{ title: "1 GB - 7 Days", data: "1 GB", voice: null, text: null, is_fair_usage_policy: false },
      prices: { net_price: { USD: 3.6, EUR: 3.31, JPY: 562 }, recommended_retail_price: { USD: 4.5 } },
    });
    expect(operator.packages[2]).toMatchObject({ amount: 0, is_unlimited: true, is_fair_usage_policy: true });
    expect(countsOf(body)).toMatchObject({ topup: 0 });
    expect(countsOf(body).sim).toBeGreaterThanOrEqual(10);
  });

  test("are filtered, and have their top-ups where asked", async () => {
    const { send } = await signedInAiralo();
    const slugs = async (query: string) =>
      (await send(`/packages?${query}`)).body.data.map(({ slug }: { slug: string }) => slug);
    expect(await slugs("filter[type]=global")).toEqual(["europe", "asia"]);
    expect(await slugs("filter[country]=FR")).toEqual(["france", "europe"]);
    expect(await slugs("filter[type]=local&filter[country]=FR")).toEqual(["france"]);
    const { body } = await send("/packages?filter[country]=TR&filter[type]=local&include=topup");
    expect(body.data[0].operators[0]).toMatchObject({ rechargeability: false, topup_grace_window_days: null });
    expect(countsOf(body)).toEqual({ sim: 1, topup: 0 });
    expect(countsOf((await send("/packages?filter[country]=US&include=topup")).body)).toEqual({ sim: 2, topup: 2 });
    expect((await send("/packages?filter[type]=regional")).body.data).toHaveProperty(["filter.type"]);
  });

  test("have another form from the second page on", async () => {
    const { send } = await signedInAiralo();
    const { body } = await send("/packages?limit=4&page=2");
    expect(Object.keys(body.data)).toEqual(["4", "5", "6", "7"]);
    expect(body.meta).toMatchObject({ per_page: "4", from: 5, to: 8, last_page: 3 });
  });

  test("are given 80 times a minute", async () => {
    const { send } = await signedInAiralo();
    for (let request = 0; request < 80; request++) expect((await send("/packages?limit=1")).status).toBe(200);
    expect((await send("/packages")).status).toBe(429);
  });

  test("that are sold out go from the list", async () => {
    const { send, order } = await signedInAiralo();
    const package_id = "geysir-30days-20gb";
    expect((await order({ package_id, quantity: "10" })).body.data).toEqual({
      quantity: "SIM quantity is not available. Available quantity: 9.",
    });
    expect((await order({ package_id, quantity: "9" })).status).toBe(200);
    expect((await order({ package_id })).body).toMatchObject({ code: 34, reason: expect.any(String) });
    expect(JSON.stringify((await send("/packages")).body)).not.toContain(package_id);
  });

  /** How many packages of each type an answer has. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
  function countsOf(body: any) {
    const packages = body.data.flatMap((one: { operators: { packages: { type: string }[] }[] }) =>
      one.operators.flatMap((operator) => operator.packages),
    );
    const count = (type: string) => packages.filter((one: { type: string }) => one.type === type).length;
    return { sim: count("sim"), topup: count("topup") };
  }
});

describe("orders", () => {
  test("of parts and of JSON are answered with their eSIMs", async () => {
    const { send, json, order, provider } = await signedInAiralo();
    const { status, body } = await order({ quantity: "2", description: " réf ✓ " });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      ...{ package_id: "hinode-7days-1gb", quantity: "2", type: "sim", description: "réf ✓", validity: 7 },
      ...{ price: 4.5, net_price: 3.6, pricing_model: "net_pricing", currency: "USD", esim_type: "Prepaid" },
      ...{ created_at: "2026-03-02 09:30:00", code: `20260302-${body.data.id}`, data: "1 GB" },
    });
    const [first, second] = body.data.sims;
    expect(first).toMatchObject({
      ...{ lpa: expect.stringMatching(/^[a-z.-]+$/), confirmation_code: null, msisdn: null },
      qrcode: `LPA:1$${first.lpa}$${first.matching_id}`,
    });
    expect([luhnValid(first.iccid), luhnValid(second.iccid), first.iccid === second.iccid]).toEqual([
      true,
      true,
      false,
    ]);
    const second_order = await send("/orders", json({ quantity: 1, package_id: "lotus-10days-50gb", type: "sim" }));
    expect(second_order.body.data).toMatchObject({ quantity: 1, description: null });
    const [{ qrcode, confirmation_code }] = second_order.body.data.sims;
    expect([qrcode.endsWith("$$1"), /^\d{4}$/.test(confirmation_code)]).toEqual([true, true]);
    expect(provider.state()).toEqual({ bought: 3, balance: (1000 - 2 * 3.6 - 7.42).toFixed(4) });
    expect((await send("/balance")).body.data.balances).toEqual({
      ...{ name: "balance", availableBalance: { amount: 985.38, currency: "USD" } },
    });
  });

  test.each([
    [{ package_id: "none-7days-1gb" }, { package_id: "The selected package is invalid." }],
    [{ package_id: "hinode-7days-1gb-topup" }, { package_id: "The selected package is invalid." }],
    [{ package_id: "" }, { package_id: "The package id field is required." }],
    [{ quantity: "51" }, { quantity: "The quantity may not be greater than 50." }],
    [{ quantity: "0" }, { quantity: "The quantity must be at least 1." }],
    [{ quantity: "two" }, { quantity: "The quantity must be an integer." }],
    [{ type: "topup" }, { type: "The selected type is invalid." }],
    [{ brand_settings_name: "mine" }, { brand_settings_name: "Brand settings name doesn't exist." }],
  ])("with %j are refused field by field", async (fields, data) => {
    const { order, provider } = await signedInAiralo();
    expect(await order(fields)).toMatchObject({
      ...{ status: 422, body: { data, meta: { message: "the parameter is invalid" } } },
    });
    expect(provider.state()).toEqual({ bought: 0, balance: "1000.0000" });
  });

  test.each([
    ["test-insufficient-balance-7days-1gb", 11],
    ["test-maintenance-mode-7days-1gb", 13],
    ["test-disabled-top-up-7days-1gb", 23],
    ["test-not-enough-7days-1gb", 33],
    ["test-out-of-stock-7days-1gb", 34],
  ])("of the sandbox's package %s end with code %i", async (package_id, code) => {
    const { order } = await signedInAiralo();
    expect(await order({ package_id })).toMatchObject({ status: 422, body: { code, reason: expect.any(String) } });
  });

  test("beyond the balance are refused", async () => {
    const { order, provider } = await signedInAiralo();
    const dear = { package_id: "hinode-unlimited-7days", quantity: "46" };
    expect((await order(dear)).status).toBe(200);
    expect((await order(dear)).body).toMatchObject({
      code: 11,
      reason: expect.stringContaining("Airalo Credit: 4.10"),
    });
    expect(provider.state()).toEqual({ bought: 46, balance: "4.1000" });
  });

  test("that are to come later are refused with a reason alone", async () => {
    const { send, form } = await signedInAiralo();
    expect(await send("/orders-async", form({ quantity: "1", package_id: "hinode-7days-1gb" }))).toMatchObject({
      ...{ status: 422, body: { reason: "User is not opted in and no webhook URL provided." } },
    });
  });

  test("another kind of body has no fields", async () => {
    const { send } = await signedInAiralo();
    const body = new URLSearchParams({ quantity: "1", package_id: "hinode-7days-1gb" });
    expect((await send("/orders", { method: "POST", body })).body.data).toHaveProperty("package_id");
  });
});

describe("the list of orders", () => {
  test("has the newest first, with what is asked for", async () => {
    const { clock, order, orders, send } = await signedInAiralo();
    await order({ description: "ref-1" });
    clock.advance(1000);
    const { data: made } = (await order({ description: "ref-2", quantity: "2" })).body;
    const { data, meta } = await orders();
    expect(data.map((one: { description: string }) => one.description)).toEqual(["ref-2", "ref-1"]);
    expect(data[0]).toMatchObject({
      ...{ id: made.id, quantity: 2, price: "4.50", validity: "7", sims: made.sims },
      ...{ user: { email: expect.stringContaining("@"), name: expect.any(String) }, status: { slug: "completed" } },
    });
    expect(data[0]).not.toHaveProperty("net_price");
    expect(meta).toMatchObject({ message: "success", total: 2, per_page: "25" });
    const plain = await send(`/orders/${made.id}`);
    expect(Object.keys(plain.body.data).filter((name) => ["sims", "user", "status"].includes(name))).toEqual([]);
    expect((await send(`/orders/${made.id}?include=sims`)).body.data.sims).toEqual(made.sims);
    expect((await send("/orders/1")).status).toBe(404);
  });

  test("is searched as SQL's LIKE does", async () => {
    const { clock, order, orders, signIn } = await signedInAiralo();
    for (const description of ["a_1", "ab1", "b%c", "bxxc"]) await order({ description });
    clock.advance(24 * 3_600_000);
    await signIn();
    const { body } = await order({ description: "late" });
    const found = async (filter: string) =>
      (await orders(`&${filter}`)).data.map((one: { description: string }) => one.description).sort();
    const like = (text: string) => found(`filter[description]=${encodeURIComponent(text)}`);
    expect(await like("A_1")).toEqual(["a_1", "ab1"]);
    expect(await like("b%c")).toEqual(["b%c", "bxxc"]);
    expect(await like("b1")).toEqual(["ab1"]);
    expect(await found("filter[created_at]=2026-03-03 - 2026-03-03")).toEqual(["late"]);
    expect(await found("filter[created_at]=2026-03-01 - 2026-03-03")).toHaveLength(5);
    expect(await found(`filter[code]=${body.data.code}`)).toEqual(["late"]);
    expect(await found(`filter[iccid]=${body.data.sims[0].iccid.slice(4)}`)).toEqual(["late"]);
    expect(await found("filter[order_status]=completed")).toHaveLength(5);
    expect(await found("filter[order_status]=refunded")).toEqual([]);
  });

  test("is read page by page", async () => {
    const { order, send, url } = await signedInAiralo();
    for (const description of ["1", "2", "3"]) await order({ description });
    const { body } = await send("/orders?limit=2");
    expect(body.links).toEqual({
      first: `${url}/orders?limit=2&page=1`,
      last: `${url}/orders?limit=2&page=2`,
      prev: null,
      next: `${url}/orders?limit=2&page=2`,
    });
    expect((await send("/orders?limit=2&page=2")).body).toMatchObject({
      ...{ data: [{ description: "1" }], meta: { current_page: 2, from: 3, to: 3, last_page: 2, total: 3 } },
    });
    expect((await send("/orders?limit=x&page=y")).body.data).toEqual({
      ...{ limit: "The limit must be an integer.", page: "The page must be an integer." },
    });
    for (const query of ["filter[created_at]=today", "filter[order_status]=open", "filter[x]=1", "include=money"]) {
      expect((await send(`/orders?${query}`)).status).toBe(422);
    }
  });
});

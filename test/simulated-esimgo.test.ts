import { describe, expect, test } from "vitest";
import { luhnValid } from "../src/core/kernel/check-digits.ts";
import { BRITAIN, FRANCE, JAPAN, openEsimgo, UNLIMITED } from "./support/providers/esimgo-service.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("access", () => {
  test("a wrong or missing key is 403 with a message, never 401", async () => {
    const { send } = await openEsimgo();
    for (const key of ["", "other"]) {
      const { status, json } = await send("GET", "/organisation", undefined, { "x-api-key": key });
      expect([status, json]).toEqual([403, { message: expect.any(String) }]);
    }
  });

  test("ten tokens a second in a fixed window, five for dear endpoints; headers are on every answer", async () => {
    const { send, advance } = await openEsimgo({ tokens: 10 });
    advance(400);
    const limits = ["limit", "remaining", "reset", "cost"].map((name) => `x-ratelimit-${name}`);
    const said = ({ headers }: { headers: Headers }) => limits.map((name) => headers.get(name));
    const reset = "2026-03-01T10:00:01.000Z";
    expect(said(await send("GET", "/catalogue"))).toEqual(["10", "5", reset, "5"]);
    expect(said(await send("GET", "/networks", undefined, { "x-api-key": "other" }))).toEqual(["10", "4", reset, "1"]);
    const refused = await send("GET", "/esims");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(said(refused)).toEqual(["10", "4", reset, "5"]);
    expect((await send("GET", "/inventory")).status).toBe(200);
    advance(600);
    expect(said(await send("GET", "/esims"))).toEqual(["10", "5", "2026-03-01T10:00:02.000Z", "5"]);
  });

  test("what is not served is 404, and a body that is no JSON is 400", async () => {
    const { send } = await openEsimgo();
    expect((await send("POST", "/organisation/balance?amount=1000")).status).toBe(404);
    expect(await send("POST", "/orders", "{")).toMatchObject({
      status: 400,
      json: { message: "Invalid request body" },
    });
    expect((await send("GET", "/esims/%E0%A4%A")).status).toBe(400);
  });

  test("the organisation shows its key and its people", async () => {
    const { get } = await openEsimgo();
    const account = await get("/organisation");
    expect(account).toMatchObject({ apiKey: "demo-api-key", currency: "USD", balance: 1000, testCredit: 0 });
    expect(account.users[0]).toHaveProperty("emailAddress");
    const { groups } = await get("/organisation/groups");
    expect(groups.map((one: { name: string }) => one.name)).toEqual(account.groups);
  });
});

describe("catalogue", () => {
  test("pages within an envelope, or as a bare array", async () => {
    const { get } = await openEsimgo();
    const { bundles, ...counts } = await get("/catalogue?page=2&perPage=10");
    expect([bundles.length, counts]).toEqual([6, { pageCount: 2, rows: 16, pageSize: 10 }]);
    const bare = await (await openEsimgo({ catalogue: "array" })).get("/catalogue?page=2&perPage=10");
    expect(bare).toEqual(bundles);
  });

  test("a row has megabytes, days, decimals of the currency and allowances", async () => {
    const { get } = await openEsimgo();
    const { bundles } = await get("/catalogue?perPage=100");
    const [row] = bundles.filter((one: { name: string }) => one.name === BRITAIN);
    expect(row).toMatchObject({
      dataAmount: 1000,
      duration: 7,
      price: 1.4,
      unlimited: false,
      billingType: "FixedCost",
      countries: [{ name: "United Kingdom", region: "Europe", iso: "GB" }],
      allowances: [{ type: "DATA", service: "STANDARD", amount: 1000, unit: "MB", unlimited: false }],
    });
    const { groups, ...rest } = row;
    expect(await get(`/catalogue/bundle/${BRITAIN}`)).toEqual({ ...rest, group: groups });
  });

  test("is filtered and ordered", async () => {
    const { get } = await openEsimgo();
    const names = async (query: string) =>
      (await get(`/catalogue?${query}`)).bundles.map((one: { name: string }) => one.name);
    expect(await names("countries=TH,AU")).toEqual([
      "esim_3GB_30D_RASI_V2",
      "esim_3GB_30D_TH_V2",
      "esim_5GB_30D_AU_V2",
    ]);
    expect(await names("group=Standard%20Unlimited%20Lite")).toEqual([UNLIMITED]);
    expect(await names("region=North%20America&orderBy=price&direction=desc")).toEqual([
      "esim_5GB_30D_US_V2",
      "esim_1GB_7D_US_V2",
    ]);
    expect(await names("description=europe")).toHaveLength(2);
  });

  test.each(["page=0", "perPage=101", "perPage=x", "orderBy=color", "direction=up"])("%s is 400", async (query) => {
    const { send } = await openEsimgo();
    expect((await send("GET", `/catalogue?${query}`)).status).toBe(400);
  });

  test("names are case-sensitive", async () => {
    const { send } = await openEsimgo();
    expect((await send("GET", "/catalogue/bundle/ESIM_1GB_7D_GB_V2")).status).toBe(400);
  });

  test("networks are those of countries", async () => {
    const { get, send } = await openEsimgo();
    const { countryNetworks } = await get("/networks?isos=FR");
    const orange = { name: "Orange", brandName: "Orange France", mcc: "208", mnc: "01", tagid: "FRAF1" };
    expect(countryNetworks).toEqual([{ name: "France", networks: [{ ...orange, speed: ["4G", "5G"] }] }]);
    expect((await get("/networks?returnAll=true")).countryNetworks).toHaveLength(9);
    expect((await send("GET", "/networks")).status).toBe(400);
  });
});

describe("orders", () => {
  test("a price charges nothing", async () => {
    const { send, provider } = await openEsimgo();
    const order = [{ type: "bundle", item: BRITAIN, quantity: 2 }];
    const { json } = await send("POST", "/orders", { type: "validate", assign: true, order });
    expect(json).toEqual({
      order: [{ type: "bundle", item: BRITAIN, quantity: 2, subTotal: 2.8, pricePerUnit: 1.4, AllowReassign: false }],
      total: 2.8,
      valid: true,
      currency: "USD",
      createdDate: expect.stringMatching(/^2026-03-01T10:00:00\.\d{9}Z$/),
      assigned: true,
    });
    expect(provider.state()).toEqual({ bought: 0, balance: "1000.0000" });
  });

  test("an order that assigns hands out new eSIMs with what installs them", async () => {
    const { buy, get, provider } = await openEsimgo();
    const { json } = await buy(BRITAIN, { quantity: 2 }, true);
    expect(json).toMatchObject({
      total: 2.8,
      currency: "USD",
      status: "completed",
      orderReference: expect.stringMatching(uuid),
      assigned: true,
      sourceIP: "127.0.0.1",
      runningBalance: "997.20",
    });
    const [{ iccids, esims }] = json.order;
    expect(esims.map((one: { iccid: string }) => one.iccid)).toEqual(iccids);
    expect(esims[0]).toMatchObject({ matchingId: expect.any(String), smdpAddress: expect.any(String) });
    for (const iccid of iccids) expect(luhnValid(iccid) && iccid.length === 19).toBe(true);
    const { bundles } = await get(`/esims/${iccids[1]}/bundles`);
    expect(bundles[0].assignments[0].assignmentReference).toBe(`${json.orderReference}-1`);
    expect(provider.state()).toEqual({ bought: 2, balance: "997.2000" });
    expect((await get("/inventory")).bundles).toEqual([]);
  });

  test("an order that does not assign fills the inventory", async () => {
    const { buy, get } = await openEsimgo();
    const { json } = await buy(BRITAIN, { quantity: 3 });
    expect(json.assigned).toBe(false);
    expect(json.order[0]).not.toHaveProperty("iccids");
    const { bundles } = await get("/inventory");
    expect(bundles[0]).toMatchObject({
      name: BRITAIN,
      data: 1000,
      duration: 7,
      durationUnit: "day",
      countries: ["GB"],
    });
    expect(bundles[0].available).toEqual([{ id: expect.any(Number), total: 3, remaining: 3, expiry: "2027-03-01" }]);
  });

  test("iccids put bundles on eSIMs of the account", async () => {
    const { buy, get, newEsim } = await openEsimgo();
    const iccid = await newEsim();
    const { json } = await buy(FRANCE, { iccids: [iccid] }, true);
    expect(json.order[0].iccids).toEqual([iccid]);
    expect((await get(`/esims/${iccid}/bundles`)).bundles.map((one: { name: string }) => one.name)).toEqual([
      BRITAIN,
      FRANCE,
    ]);
  });

  test.each([
    ["an unknown bundle", { item: "esim_1GB_7D_XX_V2" }, true],
    ["too little balance", { quantity: 715 }, true],
    ["an unknown eSIM", { iccids: ["8944538500000000000"] }, true],
    ["iccids without assign", { iccids: ["8944538500000000000"] }, false],
    ["fewer iccids than units", { iccids: ["8944538500000000000"], quantity: 2 }, true],
    ["no unit", { quantity: 0 }, true],
    ["a field that is not of the protocol", { reference: "mine" }, true],
  ])("%s is 400, and nothing is bought", async (_, more, assign) => {
    const { buy, provider } = await openEsimgo();
    const { status, json } = await buy(BRITAIN, more, assign);
    expect([status, Object.keys(json)]).toEqual([400, ["message"]]);
    expect(provider.state().bought).toBe(0);
  });

  test("another operator's bundle is refused, or goes on a new eSIM where that is allowed", async () => {
    const { buy, get, newEsim } = await openEsimgo();
    const iccid = await newEsim();
    expect(await get(`/esims/${iccid}/compatible/${FRANCE}`)).toEqual({ compatible: true });
    expect(await get(`/esims/${iccid}/compatible/${JAPAN}`)).toEqual({ compatible: false });
    expect((await buy(JAPAN, { iccids: [iccid] }, true)).status).toBe(400);
    const { json } = await buy(JAPAN, { iccids: [iccid], allowReassign: true }, true);
    expect(json.order[0].AllowReassign).toBe(true);
    expect(json.order[0].iccids[0]).not.toBe(iccid);
  });

  test("several lines are bought together or not at all", async () => {
    const { send, provider } = await openEsimgo();
    const order = [BRITAIN, "esim_none"].map((item) => ({ type: "bundle", item, quantity: 1 }));
    expect((await send("POST", "/orders", { type: "transaction", order })).status).toBe(400);
    expect(provider.state().bought).toBe(0);
  });
});

describe("the list of orders", () => {
  test("is newest first, with assignments from the inventory and top-ups between", async () => {
    const { buy, get, send, advance } = await openEsimgo();
    const { orderReference } = (await buy(BRITAIN)).json;
    advance(1_000);
    const applied = await send("POST", "/esims/apply", { name: BRITAIN });
    const rows = await get("/orders?includeIccids=true");
    expect(rows.map((one: { order: { type: string }[] }) => one.order[0]?.type)).toEqual([
      "bundleAssignment",
      "bundle",
      "topup",
    ]);
    expect(rows[0]).toMatchObject({ total: 0, assigned: true, order: [{ item: BRITAIN, quantity: 1 }] });
    expect(rows[0].order[0].iccids).toEqual([applied.json.esims[0].iccid]);
    expect(rows[0].orderReference).not.toBe(applied.json.applyReference);
    expect(await get(`/orders/${orderReference}`)).toEqual(rows[1]);
    expect((await get("/orders"))[0].order[0]).not.toHaveProperty("iccids");
    expect((await send("GET", "/orders/unknown")).status).toBe(400);
  });

  test("is paged and cut to a window of two edges", async () => {
    const { buy, get, advance, send } = await openEsimgo();
    const bought: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      advance(1_000);
      bought.unshift((await buy(BRITAIN)).json.orderReference);
    }
    const references = async (query: string) =>
      (await get(`/orders?${query}`)).map((one: { orderReference: string }) => one.orderReference);
    expect(await references("page=2&limit=2")).toEqual(bought.slice(2));
    const window = "createdAt=gte:2026-03-01T10:00:02Z&createdAt=lte:2026-03-01T10:00:03Z";
    expect(await references(window)).toEqual(bought.slice(1, 3));
    expect((await send("GET", "/orders?createdAt=2026-03-01")).status).toBe(400);
    expect((await send("GET", "/orders?limit=201")).status).toBe(400);
  });

  test("can come within an envelope", async () => {
    const { get } = await openEsimgo({ orders: "envelope" });
    expect(await get("/orders")).toMatchObject({ orders: [{ total: 1000 }], pageCount: 1, rows: 1 });
  });
});

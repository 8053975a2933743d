import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { activateEsim } from "../src/core/esims/life.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { expireEsims, purgeSandboxOrders } from "../src/daemon/workers/cron.ts";
import { announceEsims } from "../src/daemon/workers/notices.ts";
import { iccid as simIccid, request as simRequest } from "./support/activations.ts";
import { startReceiver } from "./support/receiver.ts";
import {
  advance,
  at,
  buy,
  CLOCK,
  DAY_MS,
  eventsOf,
  momentsOf,
  openShop,
  order,
  report,
  running,
  START,
  settle,
} from "./support/sandbox.ts";
import { liveReceiver } from "./support/webhooks.ts";

describe("the clock", () => {
  test("shows the system's time until it is advanced, goes forward only, and back to it", async () => {
    const shop = await openShop();
    const { partner } = shop;
    expect((await partner.get(CLOCK)).body).toEqual({ now: START, system_time: START, ahead_ms: 0, status: "ready" });
    const week = { now: at(7), system_time: START, ahead_ms: 7 * DAY_MS, status: "ready" };
    expect((await advance(partner, "P7D")).body).toEqual(week);
    expect((await advance(partner, "PT12H")).body.now).toBe(at(7.5));
    // A month of this calendar: from the 9th of March to the 9th of April.
    expect((await advance(partner, "P1M")).body.now).toBe(at(38.5));
    expect((await partner.get(CLOCK)).body.now).toBe(at(38.5));
    expect((await partner.send("DELETE", CLOCK)).body).toMatchObject({ now: START, ahead_ms: 0 });
    expect((await partner.send("DELETE", CLOCK)).status).toBe(200);
    const entries = await shop.store.read(listAudit, { limit: 10, target: partner.partnerId });
    const acts = entries.filter(({ action }) => action.startsWith("sandbox."));
    expect(acts.map(({ action, note }) => [action, note])).toEqual([
      ["sandbox.reset", null],
      ["sandbox.advance", "P1M"],
      ["sandbox.advance", "PT12H"],
      ["sandbox.advance", "P7D"],
    ]);
    // The trail is by the system's time.
    expect(acts.every(({ at: when }) => when === START)).toBe(true);
  });

  test("refuses what is no duration, goes nowhere or back, or too far", async () => {
    const shop = await openShop();
    const refused = async (duration: string, words: string) => {
      const { status, body } = await advance(shop.partner, duration);
      expect([status, body.errors]).toEqual([400, { advance: [words] }]);
    };
    for (const [duration, words] of [
      ["7d", "must be an ISO 8601 duration such as P7D or PT36H"],
      ["P", "must be an ISO 8601 duration such as P7D or PT36H"],
      ["P999999999Y", "must be an ISO 8601 duration such as P7D or PT36H"],
      ["-P1D", "must go forward"],
      ["PT0S", "must go forward"],
      ["P401D", "would be more than 400 days ahead of the system's time"],
    ] as const)
      await refused(duration, words);
  });

  test("goes 400 days ahead in all, whatever the steps, also when they come at once", async () => {
    const shop = await openShop();
    const { partner } = shop;
    const statuses = await Promise.all(Array.from({ length: 5 }, () => advance(partner, "P100D")));
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 400]);
    expect((await partner.get(CLOCK)).body.ahead_ms).toBe(400 * DAY_MS);
    await partner.send("DELETE", CLOCK);
  });

  test("is a partner's own, and needs a sandbox credential", async () => {
    const shop = await openShop();
    const other = await shop.caller();
    await advance(shop.partner, "P1D");
    expect((await other.get(CLOCK)).body.ahead_ms).toBe(0);
    for (const reply of [
      await shop.live.get(CLOCK),
      await advance(shop.live, "P1D"),
      await shop.live.send("DELETE", CLOCK),
      await report(shop.live, "8944590004463637008", { event: "activated" }),
    ]) {
      expect([reply.status, reply.body.type]).toEqual([403, "http://esim.test/docs/errors/sandbox_only"]);
    }
    await shop.partner.send("DELETE", CLOCK);
  });

  test("gives orders, their numbers and their events its time, and ids the system's", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const before = await order(partner, products.EU5);
    await advance(partner, "P10D");
    const ahead = await order(partner, products.EU5);
    await shop.fulfill();
    expect(ahead.body).toMatchObject({ created_at: at(10), order_number: expect.stringContaining("ORD-20260312-") });
    const { body: esims } = await partner.get(`/api/v1/orders/${ahead.body.id}/esims`);
    expect(esims.esims[0].created_at).toBe(at(10));
    expect(ahead.body.id.slice(0, 13)).toBe(before.body.id.slice(0, 13));
    expect(esims.esims[0].id.slice(0, 13)).toBe(before.body.id.slice(0, 13));
    const own = (await eventsOf(shop, "sandbox")).filter(({ subject_id }) => subject_id === ahead.body.id);
    expect(momentsOf(own)).toEqual([`order.created ${at(10)}`, `order.fulfilled ${at(10)}`, `esims.ready ${at(10)}`]);
    // Records keep their times; lists and their filters go by what the records say.
    await partner.send("DELETE", CLOCK);
    const after = await order(partner, products.EU5);
    expect(after.body.created_at).toBe(START);
    const ids = async (query: string) =>
      (await partner.get(`/api/v1/orders?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids("")).toEqual([ahead.body.id, after.body.id, before.body.id]);
    expect(await ids(`created_after=${at(5)}`)).toEqual([ahead.body.id]);
    expect(await ids(`created_before=${at(5)}`)).toEqual([after.body.id, before.body.id]);
    const first = await partner.get("/api/v1/orders?limit=2");
    const rest = await partner.get(`/api/v1/orders?limit=2&cursor=${first.body.pagination.next_cursor}`);
    expect(rest.body.data.map(({ id }: { id: string }) => id)).toEqual([before.body.id]);
  });

  test("is what dates of orders are checked against, but not those of physical SIMs, which are real", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const traveler = { customer_email: "mia@example.com", customer_name: "Mia Chen", timezone: "UTC" };
    const dated = (activation_date: string) =>
      order(partner, products.MAIL, {
        activation_requests: [{ product_id: products.MAIL, activation_date, ...traveler }],
      });
    await advance(partner, "P3D");
    expect((await dated("2026-03-04")).body.type).toMatch(/invalid_activation_date$/);
    expect((await dated("2026-03-05")).status).toBe(201);
    const sim = await partner.send("POST", "/api/v1/activations", simRequest({ iccid: simIccid() }));
    expect([sim.status, sim.body.created_at]).toEqual([201, START]);
    await partner.send("DELETE", CLOCK);
  });
});

describe("what an advance makes due", () => {
  test("is done in the order of its moments, with events of those moments", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const month = await buy(shop, partner, products.EU5);
    const week = await buy(shop, partner, products.WEEK);
    for (const { iccid } of [month, week]) await report(partner, iccid, { event: "activated" });
    await advance(partner, "P2D");
    const later = await buy(shop, partner, products.WEEK);
    await report(partner, later.iccid, { event: "activated" });
    await report(partner, later.iccid, { event: "suspended" });

    expect((await advance(partner, "P90D")).body.status).toBe("advancing");
    await settle(shop);
    expect((await partner.get(CLOCK)).body.status).toBe("ready");
    const expired = (await eventsOf(shop, "sandbox")).filter(({ kind }) => kind === "esim.expired");
    expect(expired.map(({ data }) => Reflect.get(data, "iccid"))).toEqual([week.iccid, later.iccid, month.iccid]);
    expect(momentsOf(expired)).toEqual([7, 9, 30].map((days) => `esim.expired ${at(days)}`));
    expect((await partner.get(`/api/v1/esims/${week.iccid}/status`)).body).toMatchObject({
      status: "expired",
      activated_at: START,
      expires_at: at(7),
    });
  });

  test("has a partner's own days before an expiry, each once, by the clock or by the calendar", async () => {
    const shop = await openShop();
    const { partner, products, clock, store } = shop;
    const days = (expiry_days: number[] | null) =>
      store.write(updatePartner, { slug: "partner-1", thresholds: { expiry_days }, actor: "test" });
    const calendar = () => announceEsims(shop, running);
    const pass = async (elapsed: number) => {
      clock.advance(elapsed * DAY_MS);
      await Promise.all([calendar(), settle(shop), settle(shop), calendar()]);
    };
    const moments = async () => {
      const rows = (await eventsOf(shop, "sandbox")).filter(({ kind }) => kind === "esim.expiring");
      return rows.map(({ data, occurred_at }) => [
        Reflect.get(data, "days_left"),
        (occurred_at - Date.parse(START)) / DAY_MS,
      ]);
    };
    const ahead = async (by: string) => {
      // Its token has expired meanwhile.
      const caller = await shop.credential("partner-1", {});
      expect((await advance(caller, by)).status).toBe(200);
      await pass(0);
    };
    await days([20, 5, 2]);
    await calendar();
    for (const product of [products.EU5, products.WEEK]) {
      const { iccid } = await buy(shop, partner, product);
      await report(partner, iccid, { event: "activated" });
    }
    await pass(2); // The calendar sees to the first: a week's plan, 5 days before.
    await ahead("P4D"); // By the clock it is day 6.
    await pass(1);
    expect(await moments()).toEqual([
      [5, 2],
      [2, 5],
    ]);
    await ahead("P4D"); // Day 11.
    await days([25, 20, 4]); // 25 days before is past.
    await pass(0.5);
    await ahead("P10D");
    await (await shop.credential("partner-1", {})).send("DELETE", CLOCK);
    await pass(17.5); // Day 21 by the system's time, as the clock said before.
    await pass(5);
    await pass(0.5);
    await ahead("PT36H");
    await ahead("P3D");
    expect(await moments()).toEqual([
      [5, 2],
      [2, 5],
      [20, 10],
      [4, 26],
    ]);
    await (await shop.credential("partner-1", {})).send("DELETE", CLOCK);
  });

  test("waits after a reset until its time comes", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    await advance(partner, "P100D");
    const { iccid } = await buy(shop, partner, products.WEEK);
    await report(partner, iccid, { event: "activated" });
    await partner.send("DELETE", CLOCK);
    shop.clock.advance(106 * DAY_MS);
    await settle(shop);
    expect(await expireEsims(shop, running)).toBe(0);
    shop.clock.advance(DAY_MS);
    expect(await expireEsims(shop, running)).toBe(1);
  });

  test("never moves retention: orders go 90 days after they were made, whatever they say", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    await advance(partner, "P300D");
    await buy(shop, partner, products.EU5);
    expect(await purgeSandboxOrders(shop, running)).toBe(0);
    shop.clock.advance(90 * DAY_MS);
    expect(await purgeSandboxOrders(shop, running)).toBe(0);
    shop.clock.advance(1);
    expect(await purgeSandboxOrders(shop, running)).toBe(1);
  });
});

describe("reports on sandbox eSIMs", () => {
  test("buy, activate, use 80 %, expire by the clock: the feed and a receiver have it in causal order", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const receiver = await startReceiver();
    const elsewhere = await liveReceiver(shop, shop.live, ["*"]);
    await shop.endpoint(partner, receiver.url, ["*"]);
    const { id, iccid } = await buy(shop, partner, products.EU5);
    await shop.deliver();
    expect((await report(partner, iccid, { event: "activated" })).body).toMatchObject({
      status: "active",
      activated_at: START,
      expires_at: at(30),
      is_test: true,
    });
    await shop.deliver();
    const { body: used } = await report(partner, iccid, { event: "usage", used_mb: 4096 });
    const data_usage = { total_mb: 5120, used_mb: 4096, remaining_mb: 1024 };
    expect(used.data_usage).toEqual({ ...data_usage, updated_at: START });
    for (const used_mb of [4090, 4097]) await report(partner, iccid, { event: "usage", used_mb });
    await advance(partner, "P31D");
    await settle(shop);
    await settle(shop);
    await announceEsims(shop, running);
    await shop.deliver();

    const { body: feed } = await partner.get("/api/v1/events?limit=50");
    expect(feed.data.map(({ event, timestamp }: Record<string, string>) => `${event} ${timestamp}`)).toEqual([
      ...["order.created", "order.fulfilled", "esims.ready"].map((kind) => `${kind} ${START}`),
      ...["esim.activated", "esim.data_low"].map((kind) => `${kind} ${START}`),
      `esim.expiring ${at(27)}`,
      `esim.expiring ${at(29)}`,
      `esim.expired ${at(30)}`,
    ]);
    const [low, ...ending] = feed.data.slice(4).map(({ data }: { data: object }) => data);
    expect(low).toMatchObject({ iccid, order_id: id, threshold_percent: 80, data_usage });
    const expiring = { iccid, order_id: id, expires_at: at(30) };
    expect(ending).toMatchObject([
      { ...expiring, days_left: 3 },
      { ...expiring, days_left: 1 },
      { iccid, status: "expired", expired_at: at(30), data_usage: { used_mb: 4097 } },
    ]);
    const numbered = (one: { json: { event_id: string } }, two: typeof one) =>
      one.json.event_id < two.json.event_id ? -1 : 1;
    const received = receiver.received.toSorted(numbered);
    expect(received.map(({ json }) => json.event_id)).toEqual(
      feed.data.map(({ event_id }: { event_id: string }) => event_id),
    );
    for (const { headers } of received) {
      expect(headers["x-webhook-signature"]).toContain(`t=${Date.parse(START) / 1000}`);
    }
    expect(elsewhere.received).toEqual([]);
    await partner.send("DELETE", CLOCK);
  });

  test("move an eSIM as the table of states has it, each move once, and are refused otherwise", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const { iccid } = await buy(shop, partner, products.EU5);
    const moved = async (event: string) => {
      const { status, body } = await report(partner, iccid, { event });
      return status === 200 ? body.status : `${status} ${body.type.split("/").at(-1)}`;
    };
    expect(await moved("expired")).toBe("409 conflict");
    expect(await moved("resumed")).toBe("409 conflict");
    expect(await moved("activated")).toBe("active");
    expect(await moved("activated")).toBe("active");
    expect(await moved("suspended")).toBe("suspended");
    expect(await moved("resumed")).toBe("active");
    expect(await moved("expired")).toBe("expired");
    expect(await moved("expired")).toBe("expired");
    for (const event of ["activated", "suspended", "resumed"]) expect(await moved(event)).toBe("409 conflict");
    const own = (await eventsOf(shop, "sandbox")).filter(({ data }) => Reflect.get(data, "iccid") === iccid);
    expect(own.map(({ kind }) => kind)).toEqual(["esim.activated", "esim.expired"]);
    expect((await partner.get(`/api/v1/esims/${iccid}/status`)).body.expires_at).toBe(START);
  });

  test("count after a reset too, and never go before what the eSIM went through", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const { iccid } = await buy(shop, partner, products.EU5);
    await advance(partner, "P5D");
    await report(partner, iccid, { event: "activated", used_mb: 1 });
    await partner.send("DELETE", CLOCK);
    const { body } = await report(partner, iccid, { event: "usage", used_mb: 2 });
    expect(body.data_usage.used_mb).toBe(2);
    expect(Date.parse(body.data_usage.updated_at)).toBeGreaterThanOrEqual(Date.parse(at(5)));
  });

  test("check what is asked and whose eSIM it is", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const { iccid } = await buy(shop, partner, products.EU5);
    const { iccid: real } = await buy(shop, shop.live, products.EU5);
    const slug = async (reply: ReturnType<typeof report>) => {
      const { status, body } = await reply;
      return `${status} ${body.type.split("/").at(-1)} ${Object.keys(body.errors ?? {})}`;
    };
    expect(await slug(report(partner, iccid, { event: "usage" }))).toBe("400 validation used_mb");
    expect(await slug(report(partner, iccid, { event: "usage", used_mb: -1 }))).toBe("400 validation used_mb");
    expect(await slug(report(partner, iccid, { event: "melted" }))).toBe("400 validation event");
    expect(await slug(report(partner, "123", { event: "activated" }))).toBe("400 invalid_iccid ");
    expect(await slug(report(partner, real, { event: "activated" }))).toBe("404 not_found ");
    const other = await shop.caller();
    expect(await slug(report(other, iccid, { event: "activated" }))).toBe("403 esim_forbidden ");
  });
});

test("whatever a partner does with its sandbox clock, production keeps the system's time", async () => {
  const shop = await openShop();
  const { partner, live, products, clock } = shop;
  const acts: Record<string, () => Promise<unknown>> = {
    advance: () => advance(partner, "P20D"),
    reset: () => partner.send("DELETE", CLOCK),
    tick: async () => clock.advance(1_000),
    sandboxOrder: () => order(partner, products.EU5),
    productionOrder: async () => {
      const now = new Date(clock.now()).toISOString();
      const { id, iccid } = await buy(shop, live, products.EU5);
      const { body } = await live.get(`/api/v1/orders/${id}`);
      expect([body.status, body.created_at, body.updated_at]).toEqual(["fulfilled", now, now]);
      const active = await shop.store.write(activateEsim, { iccid, actor: "test" });
      expect(active).toMatchObject({ activated_at: now, expires_at: at(30, now) });
    },
  };
  const act = fc.constantFrom(...Object.keys(acts));
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 6 }), async (names) => {
      for (const name of names) await acts[name]?.();
      await settle(shop);
      await expireEsims(shop, running);
    }),
    { numRuns: 12 },
  );
  const events = await eventsOf(shop, "production");
  expect(events.map(({ kind }) => kind)).not.toContain("esim.expired");
  // The id of an event has the system's time of its transaction.
  for (const { id, occurred_at } of events) {
    expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(occurred_at);
  }
});

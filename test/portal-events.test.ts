import { expect, test } from "vitest";
import { newId, randomIds } from "../src/core/kernel/ids.ts";
import { recordEvent } from "../src/core/outbox/record.ts";
import type { Tx } from "../src/core/store/store.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { recordCancellations } from "./support/feed.ts";
import { person, startPages } from "./support/pages.ts";
import { startReceiver } from "./support/receiver.ts";
import { withDeliveries } from "./support/webhooks.ts";

const LIST = "/portal/developers/events";

async function opened() {
  const platform = await withDeliveries(await startPages());
  const caller = await platform.caller({ slug: "acme", production: false });
  const developer = await person(platform, { partner: "acme", role: "developer" });
  return { platform, caller, developer };
}

test("the events of an order are listed newest first, each with its body and its deliveries", async () => {
  const { platform, caller, developer } = await opened();
  const receiver = await startReceiver();
  const { id: endpoint } = await platform.endpoint(caller, receiver.url, ["esims.ready"]);
  const sku = "EU-1";
  const products = await addProducts(platform.store, [{ sku, price_cents: 990 }]);
  await addStock(platform.store, sku, 5);
  const order = { line_items: [{ product_id: products[sku], quantity: 1 }] };
  const { body } = await caller.send("POST", "/api/v1/orders", order, { "idempotency-key": "one" });
  await platform.fulfill();
  await platform.deliver();

  const list = await developer.get(LIST);
  const kinds = list.page.querySelectorAll("tbody tr").map((row) => row.querySelector("a")?.textContent);
  expect(kinds).toEqual(["esims.ready", "order.fulfilled", "order.created"]);
  const narrowed = await developer.get(`${LIST}?kind=esims.ready`);
  expect(narrowed.page.querySelectorAll("tbody tr")).toHaveLength(1);
  expect(narrowed.text).toContain(`order ${body.id}`);
  const csv = await developer.get(`${LIST}?kind=order.created&format=csv`);
  expect(csv.html.split("\n").slice(0, 2)).toEqual([
    "Event,Happened,About,Event ID",
    expect.stringMatching(new RegExp(`^order\\.created,2026-03-02T01:00:00.000Z,order ${body.id},`)),
  ]);

  const link = narrowed.page.querySelector("tbody a")?.getAttribute("href") ?? "";
  const shown = await developer.get(link);
  const sent = JSON.parse(shown.page.querySelector("pre")?.textContent ?? "");
  const { esims, ...rest } = receiver.received[0]?.json.data ?? {};
  expect([sent.event, sent.data]).toEqual(["esims.ready", rest]);
  // Activation codes are for those who may see eSIMs, at the order.
  expect(shown.html).not.toContain(esims[0].activation_code);
  const to = shown.page.querySelector("tbody a")?.getAttribute("href") ?? "";
  expect(to).toContain(`/webhooks/${endpoint}/deliveries/`);
  const delivery = await developer.get(to);
  expect(delivery.text).toMatch(/Status ?delivered/);
  expect(delivery.page.querySelectorAll("a").map((one) => one.getAttribute("href"))).toContain(
    new URL(link, platform.url).pathname,
  );
});

test("pages of one kind follow one another without a gap", async () => {
  const { platform, caller, developer } = await opened();
  const owner = { partnerId: caller.partnerId, environment: "sandbox" } as const;
  const subjectId = randomIds().uuid(platform.clock.now());
  const reasons = Array.from({ length: 120 }, (_, at) => `${at}`);
  const ids = await platform.store.write(
    (tx: Tx) => recordCancellations(tx, { owner, subjectId, reasons, fails: false }),
    null,
  );
  const listed: string[] = [];
  let at: string | undefined = `${LIST}?kind=order.cancelled`;
  while (at !== undefined) {
    const page = await developer.get(at);
    listed.push(
      ...page.page.querySelectorAll("tbody tr").map((row) => row.querySelectorAll("td")[3]?.textContent ?? ""),
    );
    at = page.page.querySelector('a[rel="next"]')?.getAttribute("href")?.replaceAll("&amp;", "&");
  }
  expect(listed).toEqual(ids.toReversed());
  const foreign = await developer.get(`${LIST}?kind=order.created`);
  expect(foreign.text).toContain("No event fits.");
  expect((await developer.get(`${LIST}?cursor=none`)).status).toBe(400);
});

test("who a customer is, is not shown; hidden characters are spelled out", async () => {
  const { platform, caller, developer } = await opened();
  const { partnerId } = caller;
  await platform.store.write(async (tx: Tx) => {
    const id = newId(tx);
    const data = {
      id,
      iccid: "8961031234567890123",
      carrier: "Carrier \u202eA",
      activation_date: "2026-03-02",
      customer_name: "Mia Chen",
      status: "completed",
      processing_status: "completed",
      mobile_number: "+61400000000",
      confirmation_number: "CONF-1",
      activated_at: "2026-03-02T01:00:00.000Z",
    } as const;
    await recordEvent(tx, { kind: "activation.activated", partnerId, environment: "sandbox", subjectId: id, data });
  }, null);
  const list = await developer.get(LIST);
  const shown = await developer.get(list.page.querySelector("tbody a")?.getAttribute("href") ?? "");
  expect(shown.text).toContain("CONF-1");
  expect(shown.html).not.toMatch(/Mia|6140000/);
  expect(shown.text).toContain("Carrier \\u202eA");
});

test("another partner's event is not there; an agent sees none", async () => {
  const { platform, caller, developer } = await opened();
  await platform.endpoint(caller, "https://shop.example.com/hooks");
  const id = await platform.trigger(caller);
  expect((await developer.get(`${LIST}/${id}`)).status).toBe(200);
  await platform.caller({ slug: "other" });
  const stranger = await person(platform, { partner: "other", role: "owner" });
  expect((await stranger.get(`${LIST}/${id}`)).status).toBe(404);
  expect((await stranger.get(LIST)).text).toContain("Nothing has happened yet.");
  const agent = await person(platform, { partner: "acme", role: "agent" });
  expect((await agent.get(LIST)).status).toBe(403);
  expect((await agent.get(`${LIST}/${id}`)).status).toBe(403);
});

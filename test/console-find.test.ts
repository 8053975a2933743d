import { expect, test } from "vitest";
import { ACTIVATIONS, request } from "./support/activations.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Person, person, startPages } from "./support/pages.ts";

/** A partner with a delivered eSIM and two requests of people of one family name. */
async function setUp() {
  const platform = await startPages();
  const products = await addProducts(platform.store, [{ sku: "EU-5", price_cents: 500 }]);
  const [iccid = ""] = await addStock(platform.store, "EU-5", 1);
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  const lines = { line_items: [{ product_id: products["EU-5"], quantity: 1 }] };
  const { body: order } = await caller.send("POST", "/api/v1/orders", lines, { "idempotency-key": "one" });
  await platform.fulfill();
  const submit = async (fields: Record<string, unknown>) =>
    (await caller.send("POST", ACTIVATIONS, request(fields))).body as { id: string; iccid: string };
  const anna = await submit({ first_name: "Anna", last_name: "Farrowgate", passport_no: "AN5550111" });
  const ben = await submit({ first_name: "Ben", last_name: "Farrowgate", passport_no: "BE5550222" });
  return { ...platform, iccid, order, anna, ben, support: await person(platform, { role: "support" }) };
}

async function find(who: Person, what: string) {
  return who.send(await who.get("/console/find"), { what });
}

test("several that fit a name are listed as initials; one of them leads to its story", async () => {
  const platform = await setUp();
  const { support, anna, ben } = platform;
  const several = await find(support, "farrowgate");
  expect([several.path, several.status]).toEqual(["/console/find", 200]);
  expect(several.text).toMatch(/Several fit.*A\. F\./);
  expect(several.text).toContain("B. F.");
  expect(several.html).not.toMatch(/Farrowgate|farrowgate|AN5550111/);
  const links = several.page.querySelectorAll("main a").map((link) => link.getAttribute("href"));
  expect(links).toEqual(expect.arrayContaining([`/console/activations/${anna.id}`, `/console/activations/${ben.id}`]));
  const one = await find(support, "AN5550111");
  expect(one.text).toMatch(/••••••111.*History.*activation of/);
  expect(one.html).not.toMatch(/AN5550111/);
  const revealing = await person(platform, { role: "support", reveal: true });
  // Whole names are on a page that is revealed, one record at a time, and audited.
  expect((await find(revealing, "farrowgate")).html).not.toMatch(/Farrowgate|AN5550111/);
});

test("the search box of every page finds an order by its number, and says where nothing fits", async () => {
  const { support, order, iccid } = await setUp();
  const found = await support.send(await support.get("/console/orders"), { what: order.order_number }, "/find");
  expect(found.text).toMatch(/Found.*EU-5 for 5\.00 AUD/);
  expect(found.html).toContain(`/console/orders/${order.id}`);
  expect(found.html).toContain(`/console/esims/${iccid}`);
  expect((await find(support, "no such thing")).text).toContain("No such order, eSIM");
  const empty = await find(support, " ");
  expect([empty.status, empty.text]).toEqual([400, expect.stringContaining("What to find is required")]);
});

test("finance finds orders, and nothing of what its role does not see", async () => {
  const platform = await setUp();
  const finance = await person(platform, { role: "finance" });
  const found = await find(finance, platform.order.order_number);
  expect(found.text).toContain(platform.order.order_number);
  expect(found.html).not.toContain(`/console/esims/${platform.iccid}`);
  const hidden = await find(finance, "AN5550111");
  expect(hidden.text).toContain("No record that your role sees");
  expect(hidden.html).not.toContain(platform.anna.iccid);
});

test("an eSIM is listed, activated and suspended once the consequence was shown", async () => {
  const platform = await setUp();
  const { support, iccid, order } = platform;
  const path = `/console/esims/${iccid}`;
  const listed = async (query: string) => (await support.get(`/console/esims${query}`)).text;
  expect(await listed("?status=inactive&partner=acme")).toContain(iccid);
  expect(await listed("?status=active")).not.toContain(iccid);
  const csv = await support.get("/console/esims?format=csv");
  expect(csv.html.split("\n")[1]).toMatch(new RegExp(`^${iccid},acme,inactive,EU-5,${order.order_number},`));
  const foreseen = await support.get(`${path}/activate`);
  expect(foreseen.text).toMatch(/inactive → active.*Its validity ends at 1 Apr 2026/);
  const active = await support.send(foreseen, {}, "/activate");
  expect([active.path, active.text]).toEqual([path, expect.stringMatching(/Statusactive.*0 of 5120 MB used/)]);
  const suspended = await support.send(await support.get(`${path}/suspend`), {}, "/suspend");
  expect(suspended.text).toMatch(/Statussuspended.*esims\.suspend/);
  const viewer = await person(platform, { role: "viewer" });
  expect((await viewer.get(path)).text).not.toContain("Suspend");
  expect((await viewer.get(`${path}/suspend`)).status).toBe(403);
  const finance = await person(platform, { role: "finance" });
  expect((await finance.get(path)).status).toBe(403);
  expect((await support.get("/console/esims/8944100000000099999")).status).toBe(404);
});

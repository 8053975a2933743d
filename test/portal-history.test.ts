import { expect, test } from "vitest";
import { removeFromPartner } from "../src/core/accounts/change-user.ts";
import { recordAudit } from "../src/core/audit/record.ts";
import { esimsOfIccid } from "../src/core/esims/esim.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { recordSample } from "../src/core/outbox/record.ts";
import { announceExpiringPassports } from "../src/core/passports/expiring.ts";
import { recordVerdict } from "../src/core/passports/verdict.ts";
import { orderInside } from "../src/core/supplier-requests/order-inside.ts";
import { ACTIVATIONS, request } from "./support/activations.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { type Person, person, startPages } from "./support/pages.ts";
import { importRecords, passport } from "./support/passports.ts";
import { create, lines } from "./support/quotes.ts";

async function agency() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "agency", live: true, agent: true });
  const owner = await person(platform, { partner: "agency", role: "owner" });
  const agent = await person(platform, { partner: "agency", role: "agent" });
  return { platform, caller, owner, agent };
}

/** What the page of a record says of its history. */
async function historyOf(who: Person, path: string): Promise<string[]> {
  const { page, status } = await who.get(path);
  expect(status).toBe(200);
  return page.querySelectorAll(".timeline li").map(({ text }) => text.replace(/^.*?\d\d:\d\d /, ""));
}

test("an order has its states, its money and its webhooks in one timeline, and its codes to be copied", async () => {
  const { platform, caller, owner, agent } = await agency();
  const { store, fund, fulfill } = platform;
  const { EU5 = "" } = await addProducts(store, [{ sku: "EU5", price_cents: 1_000 }]);
  await addStock(store, "EU5", 1);
  await fund(caller.partnerId, 5_000);
  const { body: order } = await create(caller, lines([EU5, 1]));
  await fulfill();
  const path = `/portal/orders/${order.id}`;
  const states = [
    expect.stringMatching(/^order ORD-\S+ ordered: 1 × EU5 for 10\.00 AUD, by API$/),
    "money charge of 10.00 AUD",
    expect.stringMatching(/^order ORD-\S+ fulfilled$/),
  ];
  const seen = await historyOf(agent, path);
  expect(seen).toEqual(expect.arrayContaining(states));
  expect(seen.filter((line) => line.startsWith("webhook"))).toEqual([]);
  const events = ["order.created", "payment.completed", "order.fulfilled", "esims.ready"];
  const sent = events.map((kind) => `webhook ${kind}: no endpoint subscribes`);
  expect(await historyOf(owner, path)).toEqual(expect.arrayContaining([...states, ...sent]));
  const page = await agent.get(path);
  expect(page.page.querySelector("td code[data-copy]")?.text).toMatch(/^LPA:1\$/);
  const qr = page.page.querySelectorAll("td a").find(({ text }) => text === "show");
  expect((await agent.get(qr?.getAttribute("href") ?? "")).headers.get("content-type")).toBe("image/png");
});

test("a passport has what its partner did with it, and nothing of what the operator decided", async () => {
  const { platform, caller, owner } = await agency();
  const { store, clock } = platform;
  const expiry = new Date(clock.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const [id = ""] = await importRecords(caller, [passport({ passport_expiry: expiry })]);
  await caller.send("PATCH", `/api/v1/kyc/passports/${id}`, { reference: "GRP-X" });
  await store.write(recordVerdict, {
    id: id as never,
    verification: "rejected",
    reason: "blurred",
    actor: "operator (ada)",
  });
  clock.advance(1_000);
  await store.write(announceExpiringPassports, null);
  expect(await historyOf(owner, `/portal/passports/${id}`)).toEqual([
    "passport added",
    "change edited, reference, by API",
    "webhook passport.expiring: no endpoint subscribes",
  ]);
});

test("a credential has who made and replaced it, own people by name and staff by none", async () => {
  const { platform, caller, owner } = await agency();
  const page = await owner.get(`/portal/developers/credentials/${caller.clientId}`);
  const rotating = await owner.send(page, {}, "/rotate");
  expect(rotating.text).toContain("Tokens that were issued live on until they expire.");
  await owner.send(rotating, {}, "/rotate");
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get(`/console/partners/agency/credentials/${caller.clientId}`);
  const asked = await admin.send(form, {}, "/revoke");
  await admin.send(asked, { code: admin.code() }, "/revoke").catch(() => asked);
  const history = await historyOf(owner, `/portal/developers/credentials/${caller.clientId}`);
  expect(history).toEqual([
    expect.stringMatching(/^change created, .*by the operator$/),
    "change rotated, by Pat owner",
    "change revoked, by the operator",
  ]);
  expect(history.join()).not.toMatch(new RegExp(`${admin.id}|Pat admin`));
  const next = await person(platform, { partner: "agency", role: "owner" });
  await platform.store.write(removeFromPartner, { userId: owner.id, partnerId: caller.partnerId, actor: "test" });
  const later = await historyOf(next, `/portal/developers/credentials/${caller.clientId}`);
  expect(later[1]).toBe("change rotated, by a user");
});

test("an order bought of a supplier and placed by staff says nothing of either", async () => {
  const { platform, caller, owner, agent } = await agency();
  const { store, fund, fulfill } = platform;
  const { API } = await addProducts(store, suppliedProducts);
  await fund(caller.partnerId, 5_000);
  const { body: order } = await create(caller, lines([API, 1]));
  await fulfill();
  const inside = await store.read(orderInside, order.id as OrderId);
  const [item] = inside.items;
  expect(item).toMatchObject({ supplier: "northwind" });
  const support = await person(platform, { role: "support" });
  const form = await support.get(`/console/orders/${order.id}/items/${item?.item_id}/fail`);
  await support.send(await support.send(form, { error: "no_profile", message: "none left" }), {}, "/fail");
  await store.write(recordAudit, {
    ...{ actor: "operator (ada)", action: "orders.create", targetKind: "order" },
    ...{ targetId: order.id, partnerId: caller.partnerId, note: "by telephone" },
  });
  for (const who of [owner, agent]) {
    const history = (await historyOf(who, `/portal/orders/${order.id}`)).join("\n");
    expect(history).toContain("ordered: 1 × API");
    expect(history).not.toMatch(/northwind|operator|ada|telephone|supplier|user:|client:|none left/);
  }
});

test("an activation has what was changed of it, no identity, and nothing that staff looked at", async () => {
  const { platform, caller, owner, agent } = await agency();
  const { body: one } = await caller.send("POST", ACTIVATIONS, request());
  await caller.send("PATCH", `${ACTIVATIONS}/${one.id}`, { requested_activation_date: "2026-03-12" });
  const admin = await person(platform, { role: "admin" });
  const asked = await admin.send(await admin.get(`/console/activations/${one.id}`), {}, "/reveal");
  const revealed = asked.status === 403 ? await admin.send(asked, { code: admin.code() }) : asked;
  expect(revealed.text).toContain("Underwold");
  platform.clock.advance(1_000);
  await caller.send("POST", `${ACTIVATIONS}/${one.id}/cancel`);
  const changes = [
    "activation requested",
    "change edited, requested activation date: 2026-03-10 → 2026-03-12, by API",
    "activation cancelled",
    "change cancelled, status: pending → cancelled, by API",
  ];
  const path = `/portal/activations/${one.id}`;
  for (const who of [owner, agent]) expect(await historyOf(who, path)).toEqual(changes);
});

test("an eSIM shows its partner nothing of who had it before, and another partner nothing at all", async () => {
  const { platform, caller, owner } = await agency();
  const { store, fund, fulfill } = platform;
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 1_000 }]);
  const [iccid = ""] = await addStock(store, "EU5", 1);
  await fund(caller.partnerId, 5_000);
  const { body: order } = await create(caller, lines([EU5, 1]));
  await fulfill();
  const other = await platform.caller({ slug: "other", live: true });
  const stranger = await person(platform, { partner: "other", role: "owner" });
  const id = (await store.read(esimsOfIccid, iccid))[0]?.id ?? "";
  for (const { partnerId } of [caller, other]) {
    const about = { partnerId, environment: "production", subjectId: id } as const;
    await store.write(recordSample, { ...about, kind: "esim.activated", data: {} as never }); // it is not read here
    const line = { actor: "client:of-a-partner", action: "esims.look", targetKind: "esim", targetId: id };
    await store.write(recordAudit, { ...line, partnerId, fields: [partnerId] });
  }
  expect(await historyOf(owner, `/portal/esims/${iccid}`)).toEqual([
    "esim delivered",
    "webhook esim.activated: no endpoint subscribes",
    `change looked, ${caller.partnerId}, by API`,
  ]);
  for (const path of [`esims/${iccid}`, `orders/${order.id}`, `developers/credentials/${caller.clientId}`])
    expect((await stranger.get(`/portal/${path}`)).status).toBe(404);
});

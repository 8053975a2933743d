import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { EventKind } from "../src/core/events/catalog.ts";
import type { PartnerId } from "../src/core/kernel/brand.ts";
import type { Environment } from "../src/core/kernel/environment.ts";
import { createPartner } from "../src/core/partners/create.ts";
import { writeSettings } from "../src/core/platform/settings.ts";
import { updateRow } from "../src/core/store/rows.ts";
import type { Read, Store } from "../src/core/store/store.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { triggerSample } from "../src/core/webhooks/trigger.ts";
import { loopTurn } from "../src/daemon/plugins/turns.ts";
import { openTestStore } from "./support/store.ts";

const NOW = 1_800_000_000_000;

/** Endpoints of each status, subscribed or not; every tenth has one more delivery waiting than allowed. */
function endpointAt(at: number) {
  const events: EventKind[] = at % 3 === 0 ? ["esims.ready"] : ["order.created", "order.fulfilled"];
  const status = (["active", "active", "disabled", "failed"] as const)[at % 4] ?? "active";
  return { events, status, full: at % 10 === 1 };
}

async function partnerWith(store: Store, count: number) {
  const { id: partnerId } = await store.write(createPartner, { slug: "acme", name: "Acme", actor: "test" });
  await store.write(writeSettings, { allow_private_webhooks: "yes" });
  const owner = { partnerId, environment: "sandbox" } as const;
  for (let at = 0; at < count; at++) {
    const { events, status } = endpointAt(at);
    const url = `http://127.0.0.1:9999/${at}`;
    const { webhook } = await store.write(createWebhook, { owner, url, events, actor: "test" });
    await store.write((tx) => updateRow(tx, "webhookEndpoints", { id: webhook.id }, { status }), null);
  }
  return owner;
}

const ofEvent = (q: Read, event_id: string) =>
  q.db
    .select({ delivery: q.t.deliveries, endpoint: q.t.webhookEndpoints })
    .from(q.t.deliveries)
    .innerJoin(q.t.webhookEndpoints, eq(q.t.webhookEndpoints.id, q.t.deliveries.endpoint_id))
    .where(eq(q.t.deliveries.event_id, event_id))
    .orderBy(q.t.webhookEndpoints.id);

test("an event has exactly one delivery for each of 100 endpoints that subscribe to it, due or held", async () => {
  const { store } = await openTestStore({ now: () => NOW });
  const owner = await partnerWith(store, 100);
  const send = () => store.write(triggerSample, { kind: "order.created", ...owner, actor: "test" });
  const before = (await send()).event_id;
  // The first event: endpoints that are full have one delivery that waits, the others none.
  const settle = { status: "delivered" } as const;
  for (const { delivery, endpoint } of await store.read(ofEvent, before)) {
    const full = endpointAt(Number(new URL(endpoint.url).pathname.slice(1))).full;
    if (!full) await store.write((tx) => updateRow(tx, "deliveries", { id: delivery.id }, settle), null);
    await store.write((tx) => updateRow(tx, "webhookEndpoints", { id: endpoint.id }, { due_at: null }), null);
  }
  const bound = { max_pending_deliveries: 1 };
  await store.write((tx) => updateRow(tx, "partners", { id: owner.partnerId }, bound), null);
  const found = await store.read(ofEvent, (await send()).event_id);
  const wanted = Array.from({ length: 100 }, (_, at) => ({ at, ...endpointAt(at) })).filter(({ events }) =>
    events.includes("order.created"),
  );
  expect(
    found.map(({ delivery, endpoint }) => ({ ...delivery, id: null, at: endpoint.url, look: endpoint.due_at })),
  ).toEqual(
    wanted.map(({ at, status, full }) => ({
      id: null,
      event_id: found[0]?.delivery.event_id,
      endpoint_id: expect.any(String),
      status: status === "active" && !full ? "pending" : "held",
      attempts: 0,
      due_at: NOW,
      leased_until: null,
      lease_no: 0,
      held_reason: status === "active" && full ? "pending_limit" : null,
      created_at: NOW,
      at: `http://127.0.0.1:9999/${at}`,
      look: status === "active" && !full ? NOW : null,
    })),
  );
  expect(new Set(found.map(({ delivery }) => delivery.id)).size).toBe(wanted.length);
});

test("an event that is rolled back leaves no delivery", async () => {
  const { store } = await openTestStore({ now: () => NOW });
  const owner = await partnerWith(store, 10);
  const { event_id } = await store.rehearse(triggerSample, { kind: "order.created", ...owner, actor: "test" });
  expect(await store.read(ofEvent, event_id)).toEqual([]);
  expect(await store.read((q: Read) => q.db.select().from(q.t.deliveries), null)).toEqual([]);
});

const owner = (name: string, environment: Environment) => ({ partnerId: name as PartnerId, environment });

test("long bodies take turns by partner, and those of production do not wait for the sandbox", async () => {
  const begun: string[] = [];
  const long = (name: string, environment: Environment, count: number) =>
    Array.from({ length: count }, (_, at) => loopTurn(owner(name, environment)).then(() => void begun.push(name + at)));
  const all = [
    ...long("sandbox", "sandbox", 50),
    ...long("many", "production", 50),
    ...long("one", "production", 1),
    ...long("other", "sandbox", 1),
  ];
  await Promise.all(all);
  expect(begun.slice(0, 6).sort()).toEqual(["many0", "many1", "one0", "other0", "sandbox0", "sandbox1"]);
  expect(begun).toHaveLength(102);
  expect(begun.filter((name) => name.startsWith("many"))).toEqual(Array.from({ length: 50 }, (_, at) => `many${at}`));
});

import { eq } from "drizzle-orm";
import { anyone, key, type Scenario, type Stage } from "./generic-scenarios.ts";

/** The body that registers an endpoint. */
export const endpoint = { url: "https://hooks.example.com/esim", events: ["order.created"] };

/** An endpoint of a caller. */
export async function registered({ platform }: Stage) {
  const caller = await anyone(platform);
  const { body } = await caller.send("POST", "/api/v1/webhooks", endpoint);
  return { caller, path: `/api/v1/webhooks/${body.webhook.id}` };
}

const sample = { event: "order.created" };
const everything = { since: "2026-01-01T00:00:00Z" };

/** An endpoint with a delivery. */
async function sampled(stage: Stage) {
  const { caller, path } = await registered(stage);
  const sent = await caller.send("POST", `${path}/test`, sample);
  return { caller, path, sent, delivery: `${path}/deliveries/${sent.body.delivery_id}` };
}

/** What shows the answers of the feed, and of what partners do with their endpoints. */
export const webhookScenarios: Readonly<Record<string, Readonly<Record<number, Scenario>>>> = {
  listEvents: {
    410: async ({ platform }) => {
      const caller = await anyone(platform);
      const { body } = await caller.get("/api/v1/events");
      // As after 90 days, from which on its first three events are dropped.
      await platform.store.write(async ({ db, t: { eventFeeds } }) => {
        const own = eq(eventFeeds.partner_id, caller.partnerId);
        await db.update(eventFeeds).set({ last_no: 3, dropped_no: 3 }).where(own);
      }, null);
      return caller.get(`/api/v1/events?after=${body.pagination.next_cursor}`);
    },
  },
  getEvent: {
    200: async ({ platform, products }) => {
      const caller = await anyone(platform);
      const lines = { line_items: [{ product_id: products.EU5, quantity: 1 }] };
      await caller.send("POST", "/api/v1/orders", lines, key());
      const { body } = await caller.get("/api/v1/events");
      return caller.get(`/api/v1/events/${body.data[0].event_id}`);
    },
  },
  updateWebhook: {
    200: async (stage) => {
      const { caller, path } = await registered(stage);
      return caller.send("PATCH", path, { description: "Order desk" });
    },
  },
  rotateWebhookSecret: {
    200: async (stage) => {
      const { caller, path } = await registered(stage);
      return caller.send("POST", `${path}/rotate-secret`, {});
    },
    409: async (stage) => {
      const { caller, path } = await registered(stage);
      await caller.send("POST", `${path}/rotate-secret`, {});
      return caller.send("POST", `${path}/rotate-secret`, {});
    },
  },
  testWebhook: {
    202: async (stage) => (await sampled(stage)).sent,
    404: async ({ platform }) => {
      const path = `/api/v1/webhooks/${crypto.randomUUID()}/test`;
      return (await anyone(platform)).send("POST", path, sample);
    },
    409: async (stage) => {
      const { caller, path } = await sampled(stage);
      await caller.send("PATCH", path, { status: "disabled" });
      return caller.send("POST", `${path}/test`, sample);
    },
  },
  listDeliveries: {
    200: async (stage) => {
      const { caller, path } = await sampled(stage);
      return caller.get(`${path}/deliveries`);
    },
  },
  getDelivery: {
    200: async (stage) => {
      const { caller, delivery } = await sampled(stage);
      return caller.get(delivery);
    },
    404: async (stage) => {
      const { caller, path } = await registered(stage);
      return caller.get(`${path}/deliveries/${crypto.randomUUID()}`);
    },
  },
  redeliver: {
    202: async (stage) => {
      const { caller, delivery } = await sampled(stage);
      return caller.send("POST", `${delivery}/redeliver`);
    },
    404: async (stage) => {
      const { caller, path } = await registered(stage);
      return caller.send("POST", `${path}/deliveries/${crypto.randomUUID()}/redeliver`);
    },
    409: async (stage) => {
      const { caller, path, delivery } = await sampled(stage);
      await caller.send("PATCH", path, { status: "disabled" });
      return caller.send("POST", `${delivery}/redeliver`);
    },
  },
  replayDeliveries: {
    202: async (stage) => {
      const { caller, path } = await sampled(stage);
      return caller.send("POST", `${path}/replay`, everything);
    },
    404: async ({ platform }) => {
      const path = `/api/v1/webhooks/${crypto.randomUUID()}/replay`;
      return (await anyone(platform)).send("POST", path, everything);
    },
    409: async (stage) => {
      const { caller, path } = await sampled(stage);
      await caller.send("PATCH", path, { status: "disabled" });
      return caller.send("POST", `${path}/replay`, everything);
    },
  },
};

import { setCarrier } from "../../src/core/carriers/set.ts";
import type { PassportId } from "../../src/core/kernel/brand.ts";
import { suspendPartner } from "../../src/core/partners/suspend.ts";
import { drawPassport } from "../../src/core/passports/draw.ts";
import { updateRow } from "../../src/core/store/rows.ts";
import type { Row } from "../../src/core/store/schema/tables.ts";
import { claimItems } from "../../src/core/supplier-requests/due.ts";
import { setSupplier } from "../../src/core/suppliers/set.ts";
import { iccid, request } from "./activations.ts";
import type { addProducts } from "./catalog.ts";
import { credentialScenarios } from "./credential-scenarios.ts";
import { anyone, key, type Scenario, type Stage } from "./generic-scenarios.ts";
import { draws, makeDrawable, passport } from "./passports.ts";
import { type Caller, call, type Reply } from "./platform.ts";
import { sandboxScenarios } from "./sandbox-contract.ts";
import { postSigned, SHARED_SECRET } from "./signed.ts";
import { topupScenarios } from "./topup-scenarios.ts";
import { walletScenarios } from "./wallet-scenarios.ts";
import { endpoint, registered, webhookScenarios } from "./webhook-scenarios.ts";

function askToken({ platform }: Stage, body: object): Promise<Reply> {
  return call(`${platform.url}/api/v1/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function credentials(stage: Stage, slug = `c-${crypto.randomUUID()}`) {
  const { clientId, clientSecret } = await stage.platform.caller({ slug });
  return { slug, grant: { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret } };
}

function lines({ products }: Stage, quantity = 1) {
  return { line_items: [{ product_id: products.EU5, quantity }] };
}

/** A fulfilled sandbox order and whose it is. */
async function fulfilled(stage: Stage): Promise<{ caller: Caller; id: string }> {
  const caller = await anyone(stage.platform);
  const { body } = await caller.send("POST", "/api/v1/orders", lines(stage), key());
  await stage.platform.fulfill();
  return { caller, id: body.id };
}

const readOrder =
  (suffix: string): Scenario =>
  async (stage) => {
    const { caller, id } = await fulfilled(stage);
    return caller.get(`/api/v1/orders/${id}${suffix}`);
  };

/** Reads once more what is unchanged. */
async function again(caller: Caller, path: string): Promise<Reply> {
  const { headers } = await caller.get(path);
  return caller.get(path, { "if-none-match": headers.get("etag") ?? "" });
}

async function submitted(stage: Stage): Promise<{ caller: Caller; id: string; iccid: string }> {
  const caller = await anyone(stage.platform);
  const sim = iccid();
  const { body } = await caller.send("POST", "/api/v1/activations", request({ iccid: sim }));
  return { caller, id: body.id, iccid: sim };
}

/** A change of an activation by its id or ICCID. */
function change(method: "PATCH" | "POST", by: "id" | "iccid", suffix: string, body: object): Scenario {
  return async (stage) => {
    const one = await submitted(stage);
    const path = by === "id" ? one.id : `by-iccid/${one.iccid}`;
    return one.caller.send(method, `/api/v1/activations/${path}${suffix}`, body);
  };
}

/** The same while the carrier has it. */
function changeLate(method: "PATCH" | "POST", by: "id" | "iccid", suffix: string, body: object): Scenario {
  return async (stage) => {
    const one = await submitted(stage);
    const { store } = stage.platform;
    await store.write(async (tx) => {
      const { activations } = tx.t;
      await tx.db.update(activations).set({ status: "processing", processing_status: "processing" });
    }, null);
    const path = by === "id" ? one.id : `by-iccid/${one.iccid}`;
    return one.caller.send(method, `/api/v1/activations/${path}${suffix}`, body);
  };
}

const noAgent =
  (method: string, path: string, body?: object): Scenario =>
  async ({ platform }) => {
    const caller = await platform.caller({ agent: false });
    return caller.send(method, path.replace("{id}", crypto.randomUUID()), body);
  };

async function imported(stage: Stage, ...records: object[]) {
  const caller = await anyone(stage.platform);
  const reply = await caller.send("POST", "/api/v1/kyc/passports", { records });
  const ids: PassportId[] = reply.body.records.map((record: { id: PassportId }) => record.id);
  return { caller, reply, ids };
}

/** Sets limits of the caller's partner. */
async function limit({ platform }: Stage, { partnerId: id }: Caller, limits: Partial<Row<"partners">>) {
  await platform.store.write((tx) => updateRow(tx, "partners", { id }, limits), null);
}

/** A passport that an activation drew. */
async function used(stage: Stage) {
  const { caller, ids } = await imported(stage, passport());
  await makeDrawable(stage.platform.store, ids);
  await stage.platform.store.write(drawPassport, draws(caller));
  return { caller, path: `/api/v1/kyc/passports/${ids[0]}` };
}

async function carrierCallback(stage: Stage, body: object): Promise<Reply> {
  const settings = { adapter: "http" as const, url: "http://127.0.0.1:9/x", secret: SHARED_SECRET };
  await stage.platform.store.write(setCarrier, { prefix: "896103", settings, actor: "test" });
  return postSigned(stage.platform, "/api/v1/callbacks/carriers/896103", body);
}

async function supplierCallback(stage: Stage, body: object, about = ""): Promise<Reply> {
  const settings = { adapter: "http" as const, url: "http://127.0.0.1:9/x", secret: SHARED_SECRET };
  await stage.platform.store.write(setSupplier, { name: "northwind", settings, actor: "test" });
  return postSigned(stage.platform, `/api/v1/callbacks/suppliers/northwind${about}`, body);
}

/** A request that is with its carrier or supplier. */
async function withCarrier(stage: Stage): Promise<string> {
  const { id } = await submitted(stage);
  await stage.platform.store.write(async (tx) => {
    const sent = { status: "processing", processing_status: "processing", submitted_at: tx.now } as const;
    await tx.db.update(tx.t.activations).set(sent);
  }, null);
  return id;
}

/** The item of an order that its supplier has, or has not been sent yet. */
async function withSupplier(stage: Stage, state: "sent" | "waiting"): Promise<string> {
  const caller = await anyone(stage.platform, { live: true });
  await stage.platform.fund(caller.partnerId, 10_000);
  const body = { line_items: [{ product_id: stage.products.API, quantity: 1 }] };
  const { body: order } = await caller.send("POST", "/api/v1/orders", body, key());
  const items = await stage.platform.store.read(async (q) => q.db.select().from(q.t.orderItems), null);
  const id = items.find((item) => item.order_id === order.id)?.id ?? "";
  if (state === "sent") await stage.platform.store.write(claimItems, { supplier: "northwind", room: 100 });
  return id;
}

/** The ICCID of an eSIM that the supplier has delivered. */
async function suppliedEsim(stage: Stage): Promise<string> {
  const reference = await withSupplier(stage, "sent");
  const sim = iccid();
  const esims = [{ iccid: sim, activation_code: "LPA:1$smdp.example.net$S-1" }];
  await supplierCallback(stage, { reference, outcome: "activated", esims });
  return sim;
}

/** The products that scenarios order. */
export const stageProducts = [
  { sku: "EU5", price_cents: 100 },
  {
    sku: "API",
    price_cents: 100,
    product_type: "esim_qr_api",
    delivery_method: "supplier_api",
    supplier: "northwind",
  },
] satisfies Parameters<typeof addProducts>[1];

const DATE = { requested_activation_date: "2026-03-20" };
const NAME = { last_name: "Underwood" };
const edits = (by: "id" | "iccid", suffix: string, body: object) => ({
  200: change("PATCH", by, suffix, body),
  404: async ({ platform }: Stage) => {
    const none = by === "id" ? crypto.randomUUID() : "by-iccid/8961031234567";
    return (await anyone(platform)).send("PATCH", `/api/v1/activations/${none}${suffix}`, body);
  },
  409: changeLate("PATCH", by, suffix, body),
});

/** What each operation needs of its own to answer with a status; the rest is in generic-scenarios. */
export const scenarios: Readonly<Record<string, Readonly<Record<number, Scenario>>>> = {
  issueToken: {
    200: async (stage) => askToken(stage, (await credentials(stage)).grant),
    400: (stage) => askToken(stage, {}),
    401: async (stage) => askToken(stage, { ...(await credentials(stage)).grant, client_secret: "x".repeat(43) }),
    403: async (stage) => {
      const { slug, grant } = await credentials(stage);
      await stage.platform.store.write(suspendPartner, { slug, actor: "test" });
      return askToken(stage, grant);
    },
  },
  getProduct: {
    200: async ({ platform, products }) => (await anyone(platform)).get(`/api/v1/products/${products.EU5}`),
  },
  syncCatalog: { 400: async ({ platform }) => (await anyone(platform)).get("/api/v1/catalog/sync?format=x") },
  getInventoryStatus: {
    400: async ({ platform }) => (await anyone(platform)).get("/api/v1/inventory/status?product_ids=x"),
  },
  createOrder: {
    200: async (stage) => {
      const caller = await anyone(stage.platform);
      const once = key();
      await caller.send("POST", "/api/v1/orders", lines(stage), once);
      return caller.send("POST", "/api/v1/orders", lines(stage), once);
    },
    201: async (stage) => (await anyone(stage.platform)).send("POST", "/api/v1/orders", lines(stage), key()),
    402: async (stage) => {
      const caller = await anyone(stage.platform, { live: true });
      return caller.send("POST", "/api/v1/orders", lines(stage), key());
    },
    409: async (stage) => {
      const caller = await anyone(stage.platform);
      const once = key();
      await caller.send("POST", "/api/v1/orders", lines(stage), once);
      return caller.send("POST", "/api/v1/orders", lines(stage, 2), once);
    },
  },
  quoteOrder: {
    200: async (stage) => (await anyone(stage.platform)).send("POST", "/api/v1/orders/quote", lines(stage)),
    409: async (stage) =>
      (await anyone(stage.platform)).send("POST", "/api/v1/orders/quote", { ...lines(stage), max_total_cents: 0 }),
  },
  quoteBulkOrders: {
    200: async (stage) => {
      const customer = { email: "mia@example.com", name: "Mia Chen" };
      const orders = [
        { external_order_id: "a", customer, ...lines(stage) },
        { external_order_id: "b", customer, max_total_cents: 0, ...lines(stage) },
      ];
      return (await anyone(stage.platform, { live: true })).send("POST", "/api/v1/orders/bulk/quote", { orders });
    },
  },
  getOrder: {
    200: readOrder(""),
    304: async (stage) => {
      const { caller, id } = await fulfilled(stage);
      return again(caller, `/api/v1/orders/${id}`);
    },
  },
  listProducts: { 304: async ({ platform }) => again(await anyone(platform), "/api/v1/products") },
  getOrderEsims: { 200: readOrder("/esims") },
  getOrderActivationStatus: { 200: readOrder("/activation-status") },
  createBulkOrders: {
    200: async (stage) => {
      const customer = { email: "mia@example.com", name: "Mia Chen" };
      const orders = [{ external_order_id: "a", customer, ...lines(stage) }];
      return (await anyone(stage.platform)).send("POST", "/api/v1/orders/bulk", { orders });
    },
  },
  listEsims: {
    200: async (stage) => (await fulfilled(stage)).caller.get("/api/v1/esims"),
  },
  ...walletScenarios,
  search: {
    200: async (stage) => {
      const { caller, id } = await fulfilled(stage);
      return caller.send("POST", "/api/v1/search", { query: id });
    },
  },
  getEsimStatus: {
    200: async (stage) => {
      const { caller, id } = await fulfilled(stage);
      const { body } = await caller.get(`/api/v1/orders/${id}/esims`);
      return caller.get(`/api/v1/esims/${body.esims[0].iccid}/status`);
    },
    400: async ({ platform }) => (await anyone(platform)).get("/api/v1/esims/123/status"),
    404: async ({ platform }) => (await anyone(platform)).get("/api/v1/esims/8944100000000000998/status"),
  },
  ...sandboxScenarios,
  submitActivation: {
    201: async ({ platform }) => (await anyone(platform)).send("POST", "/api/v1/activations", request()),
    409: async (stage) => {
      const { caller, iccid: sim } = await submitted(stage);
      return caller.send("POST", "/api/v1/activations", request({ iccid: sim }));
    },
    422: async ({ platform }) =>
      (await anyone(platform)).send("POST", "/api/v1/activations", request({ iccid: "8944100000000000998" })),
  },
  getActivation: {
    200: async (stage) => {
      const { caller, id } = await submitted(stage);
      return caller.get(`/api/v1/activations/${id}`);
    },
  },
  editActivation: edits("id", "", DATE),
  editActivationByIccid: edits("iccid", "", DATE),
  correctActivationIdentity: edits("id", "/identity", NAME),
  correctActivationIdentityByIccid: edits("iccid", "/identity", NAME),
  cancelActivation: { 200: change("POST", "id", "/cancel", {}), 409: changeLate("POST", "id", "/cancel", {}) },
  cancelActivationByIccid: {
    200: change("POST", "iccid", "/cancel", {}),
    409: changeLate("POST", "iccid", "/cancel", {}),
  },
  submitActivations: {
    200: async ({ platform }) =>
      (await anyone(platform)).send("POST", "/api/v1/activations/bulk", { lines: [request(), { iccid: "1" }] }),
    422: noAgent("POST", "/api/v1/activations/bulk", { lines: [request()] }),
  },
  cancelActivations: {
    200: async (stage) => {
      const { caller, id } = await submitted(stage);
      return caller.send("POST", "/api/v1/activations/bulk/cancel", { activation_ids: [id] });
    },
    422: noAgent("POST", "/api/v1/activations/bulk/cancel", { activation_ids: [crypto.randomUUID()] }),
  },
  rescheduleActivations: {
    200: async (stage) => {
      const { caller, id } = await submitted(stage);
      const items = [{ activation_id: id, ...DATE }];
      return caller.send("POST", "/api/v1/activations/bulk/reschedule", { items });
    },
    422: noAgent("POST", "/api/v1/activations/bulk/reschedule", {
      items: [{ activation_id: crypto.randomUUID(), ...DATE }],
    }),
  },
  importPassports: {
    201: async (stage) => (await imported(stage, passport())).reply,
    409: async (stage) => {
      const { caller } = await imported(stage, passport());
      await limit(stage, caller, { max_pool: 1 });
      return caller.send("POST", "/api/v1/kyc/passports", { records: [passport()] });
    },
    422: noAgent("POST", "/api/v1/kyc/passports", { records: [passport()] }),
  },
  listPassports: { 422: noAgent("GET", "/api/v1/kyc/passports") },
  editPassport: {
    200: async (stage) => {
      const { caller, ids } = await imported(stage, passport());
      return caller.send("PATCH", `/api/v1/kyc/passports/${ids[0]}`, { reference: "new" });
    },
    404: async ({ platform }) =>
      (await anyone(platform)).send("PATCH", `/api/v1/kyc/passports/${crypto.randomUUID()}`, { reference: "new" }),
    409: async (stage) => {
      const { caller, path } = await used(stage);
      return caller.send("PATCH", path, { last_name: "Other" });
    },
    422: noAgent("PATCH", "/api/v1/kyc/passports/{id}", { reference: "new" }),
  },
  withdrawPassport: {
    200: async (stage) => {
      const { caller, ids } = await imported(stage, passport());
      return caller.send("DELETE", `/api/v1/kyc/passports/${ids[0]}`);
    },
    409: async (stage) => {
      const { caller, path } = await used(stage);
      return caller.send("DELETE", path);
    },
    422: noAgent("DELETE", "/api/v1/kyc/passports/{id}"),
  },
  ...credentialScenarios,
  ...topupScenarios,
  createWebhook: {
    201: async ({ platform }) => (await anyone(platform)).send("POST", "/api/v1/webhooks", endpoint),
    409: async (stage) => {
      const { caller } = await registered(stage);
      await limit(stage, caller, { max_endpoints: 1 });
      return caller.send("POST", "/api/v1/webhooks", endpoint);
    },
  },
  ...webhookScenarios,
  getWebhook: {
    200: async (stage) => {
      const { caller, path } = await registered(stage);
      return caller.get(path);
    },
  },
  deleteWebhook: {
    204: async (stage) => {
      const { caller, path } = await registered(stage);
      return caller.send("DELETE", path);
    },
  },
  carrierCallback: {
    200: async (stage) => carrierCallback(stage, { reference: await withCarrier(stage), outcome: "accepted" }),
    400: (stage) => carrierCallback(stage, { reference: "x", outcome: "accepted" }),
    404: (stage) => carrierCallback(stage, { reference: crypto.randomUUID(), outcome: "accepted" }),
    409: async (stage) => {
      const { id } = await submitted(stage);
      return carrierCallback(stage, { reference: id, outcome: "accepted" });
    },
  },
  supplierCallback: {
    200: async (stage) =>
      supplierCallback(stage, { reference: await withSupplier(stage, "sent"), outcome: "accepted" }),
    400: (stage) => supplierCallback(stage, { reference: "x", outcome: "accepted" }),
    404: (stage) => supplierCallback(stage, { reference: crypto.randomUUID(), outcome: "accepted" }),
    409: async (stage) =>
      supplierCallback(stage, { reference: await withSupplier(stage, "waiting"), outcome: "accepted" }),
  },
  supplierEsimCallback: {
    200: async (stage) => supplierCallback(stage, { iccid: await suppliedEsim(stage), event: "activated" }, "/esims"),
    400: async (stage) => supplierCallback(stage, { iccid: await suppliedEsim(stage), event: "usage" }, "/esims"),
    404: (stage) => supplierCallback(stage, { iccid: iccid(), event: "activated" }, "/esims"),
  },
};

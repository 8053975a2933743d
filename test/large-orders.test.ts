import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { revokeCredential } from "../src/core/credentials/revoke.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { orderEsims } from "../src/core/orders/delivered-esims.ts";
import { shipOrder } from "../src/core/orders/ship.ts";
import { MAX_INLINE_ESIMS, showOrder } from "../src/core/orders/show.ts";
import { updateRow } from "../src/core/store/rows.ts";
import { serializerOf } from "../src/daemon/plugins/validation.ts";
import { orderPieces } from "../src/daemon/routes/order-bodies.ts";
import { OrderWithFulfillment } from "../src/daemon/schemas/delivered-order.ts";
import { OrderEsims } from "../src/daemon/schemas/order.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { esimctl as esimctlProcess } from "./support/cli.ts";
import { startDaemon, targetOf } from "./support/daemon.ts";
import { eventually, orHang } from "./support/hangs.ts";
import { openApiOf, responseOf, schemaChecker } from "./support/openapi.ts";
import { type Caller, call, type Platform, startPlatform } from "./support/platform.ts";
import { openShop, shopToken } from "./support/shop.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

/** More than the buffers of a connection hold, as a body, compressed too. */
const MANY = 40_000;

/** A response whose body is read when the test asks for it. */
interface Opened {
  message: IncomingMessage;
  /** Reads the rest; rejects when the body is cut off. */
  rest(): Promise<Buffer>;
  hangUp(): void;
}

function ask(url: string, token: string, headers: Record<string, string> = {}, method = "GET") {
  const sent = request(url, { method, headers: { authorization: `Bearer ${token}`, ...headers }, agent: false }).end();
  onTestFinished(() => void sent.destroy());
  const opened = once(sent, "response").then(([message]: IncomingMessage[]): Opened => {
    if (message === undefined) throw new Error("no response");
    const rest = () => orHang(message.toArray(), () => "the body neither ends nor is cut off");
    return { message, rest: async () => Buffer.concat(await rest()), hangUp: () => void sent.destroy() };
  });
  return { opened, hangUp: () => void sent.destroy() };
}

async function bought(platform: Platform, caller: Caller, lines: [product: string, quantity: number][]) {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  const headers = { "idempotency-key": crypto.randomUUID() };
  const { status, body } = await caller.send("POST", "/api/v1/orders", { line_items }, headers);
  expect(status).toBe(201);
  await platform.fulfill();
  return body.id as OrderId;
}

/** A platform with a production order of 1,200 stored eSIMs and a SIM card, which is shipped by default. */
async function production({ shipped = true } = {}) {
  const platform = await startPlatform();
  const { EU5 = "", SIM = "" } = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 1, activation_policy: "On first use" },
    { sku: "SIM", price_cents: 1, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  await addStock(platform.store, "EU5", 1_203);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  const id = await bought(platform, caller, [
    [EU5, 2],
    [SIM, 1],
    [EU5, 1_200],
  ]);
  const ship = () => platform.store.write(shipOrder, { id, carrier: "AusPost", tracking: "AP123", actor: "operator" });
  if (shipped) await ship();
  const owner = { partnerId: caller.partnerId, environment: "production" } as const;
  const asked = { owner, id, publicUrl: "http://esim.test" };
  return { platform, caller, id, ship, asked, product: EU5 };
}

/** A platform with a sandbox order of many units. */
async function sandbox(units = MANY) {
  const platform = await startPlatform();
  const { EU5 = "" } = await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await platform.caller();
  const lines = Array.from({ length: units / 10_000 }, (): [string, number] => [EU5, 10_000]);
  const id = await bought(platform, caller, lines);
  return { platform, caller, product: EU5, path: `${platform.url}/api/v1/orders/${id}`, id };
}

test("a large order has the same serialization as a small one, in the documented shape", {
  tags: ["slow"],
}, async () => {
  const { platform, caller, id, asked } = await production();
  const all = { ...asked, most: Number.MAX_SAFE_INTEGER };
  const { order } = await platform.store.read(showOrder, all);
  const esims = await platform.store.read(orderEsims, all);
  expect(esims?.count).toBe(1_202);
  const document = await openApiOf(platform);
  const check = schemaChecker(document);
  const path = `${platform.url}/api/v1/orders/${id}`;
  for (const [url, operation, text] of [
    [path, "/api/v1/orders/{id}", serializerOf(OrderWithFulfillment)(order)],
    [`${path}/esims`, "/api/v1/orders/{id}/esims", serializerOf(OrderEsims)(esims)],
  ] as const) {
    const get = async (headers: Record<string, string>, method = "GET") => {
      const { message, rest } = await ask(url, caller.token, headers, method).opened;
      return { headers: message.headers, bytes: await rest() };
    };
    const plain = await get({});
    expect(plain.bytes.toString()).toBe(text);
    const { schema = {} } =
      responseOf(document, document.paths[operation]?.get ?? raise(), 200)?.content?.["application/json"] ?? raise();
    expect(check(schema, JSON.parse(text))).toEqual([]);
    expect(plain.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "transfer-encoding": "chunked",
      vary: "accept-encoding",
    });
    for (const [coding, decompress] of [
      ["br", brotliDecompressSync],
      ["gzip", gunzipSync],
    ] as const) {
      const { headers, bytes } = await get({ "accept-encoding": coding });
      expect(headers["content-encoding"]).toBe(coding);
      expect(decompress(bytes).equals(plain.bytes)).toBe(true);
    }
    const { headers, bytes } = await get({}, "HEAD");
    expect([headers["content-type"], bytes.length]).toEqual([plain.headers["content-type"], 0]);
  }
});

function raise(): never {
  throw new Error("the document lacks it");
}

test("the body of an order is one snapshot, although the order changes while it is sent", async () => {
  const { platform, ship, asked } = await production({ shipped: false });
  const { store } = platform;
  const { order } = await store.read(showOrder, { ...asked, most: Number.MAX_SAFE_INTEGER });
  expect(order.status).toBe("paid");
  const pieces = orderPieces({ store, asked });
  let text = (await pieces.next()).value;
  await ship();
  for await (const piece of pieces) text += piece;
  expect(text).toBe(serializerOf(OrderWithFulfillment)(order));
  const { order: after } = await store.read(showOrder, { ...asked, most: MAX_INLINE_ESIMS });
  expect(after.status).toBe("fulfilled");
});

test("limit and cursor page through the eSIMs of any order", async () => {
  const { caller, id, platform, product } = await production();
  const sandbox = await platform.credential("partner-1", {});
  const small = await bought(platform, sandbox, [[product, 3]]);
  const { body: fresh } = await caller.get(`/api/v1/orders/${id}/esims`);
  const expired = { id: fresh.esims[700].id };
  await platform.store.write((tx) => updateRow(tx, "esims", expired, { status: "expired" }), null);
  for (const [who, path, limit] of [
    [caller, `/api/v1/orders/${id}/esims`, 500],
    [sandbox, `/api/v1/orders/${small}/esims`, 2],
  ] as const) {
    const { body: whole } = await who.get(path);
    expect(whole).not.toHaveProperty("pagination");
    // Expired ones too.
    expect(new Set(whole.esims.map(({ status }: { status: string }) => status))).toEqual(new Set(["inactive"]));
    const seen: unknown[] = [];
    let cursor = "";
    do {
      const { status, body } = await who.get(`${path}?limit=${limit}&cursor=${cursor}`);
      expect([status, body.order_id, body.count]).toEqual([200, whole.order_id, body.esims.length]);
      expect(body.pagination.count).toBe(body.count);
      seen.push(...body.esims);
      cursor = body.pagination.next_cursor ?? "";
    } while (cursor !== "");
    expect(seen).toEqual(whole.esims);
  }
  const { body } = await caller.get(`/api/v1/orders/${id}/esims?limit=1`);
  const { next_cursor } = body.pagination;
  const rest = await caller.get(`/api/v1/orders/${id}/esims?cursor=${next_cursor}`);
  expect([rest.body.count, rest.body.pagination.has_more]).toEqual([1_000, true]);
  expect((await sandbox.get(`/api/v1/orders/${small}/esims?cursor=${next_cursor}`)).body.type).toMatch(
    /invalid_cursor$/,
  );
  for (const limit of [0, 1_001, "x"]) {
    const refused = await caller.get(`/api/v1/orders/${id}/esims?limit=${limit}`);
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, ["limit"]]);
  }
});

test("a large order that is not fulfilled, or not the caller's, is refused like a small one", async () => {
  const { platform, caller, id } = await production({ shipped: false });
  const other = await platform.caller({ live: true });
  const path = `/api/v1/orders/${id}`;
  expect((await caller.get(`${path}/esims`)).body.type).toMatch(/order_not_fulfilled$/);
  expect((await caller.get(`${path}/esims?limit=5`)).body.type).toMatch(/order_not_fulfilled$/);
  for (const url of [path, `${path}/esims`, `${path}/esims?limit=5`]) expect((await other.get(url)).status).toBe(404);
});

test("a credential has one large body at a time: the next waits, other requests are answered", {
  tags: ["slow"],
}, async () => {
  const { platform, caller, product, path } = await sandbox(20_000);
  const small = await bought(platform, caller, [[product, 2]]);
  const first = await ask(`${path}/esims`, caller.token).opened;
  const second = ask(path, caller.token);
  const left = ask(path, caller.token);
  let waits = true;
  void second.opened.then(() => {
    waits = false;
  });
  // Another credential of the same partner has its own turn.
  const other = await platform.credential("partner-1", {});
  expect(JSON.parse((await (await ask(`${path}/esims`, other.token).opened).rest()).toString()).count).toBe(20_000);
  expect((await caller.get(`/api/v1/orders/${small}/esims`)).body.count).toBe(2);
  expect((await call(`${platform.url}/healthz`)).status).toBe(200);
  expect(waits).toBe(true);
  left.opened.catch(() => undefined);
  left.hangUp();
  first.hangUp();
  const body = JSON.parse((await (await second.opened).rest()).toString());
  expect(body.line_items.map((line: { fulfillment: { esims: [] } }) => line.fulfillment.esims.length)).toEqual([
    10_000, 10_000,
  ]);
  expect(JSON.parse((await (await ask(path, caller.token).opened).rest()).toString())).toEqual(body);
});

test("a large body is aborted when its token expires or its credential is revoked", async () => {
  const { platform, caller, path } = await sandbox();
  for (const coding of ["identity", "gzip"]) {
    const { token } = await platform.credential("partner-1", {});
    const { rest } = await ask(`${path}/esims`, token, { "accept-encoding": coding }).opened;
    platform.clock.advance(3_601_000);
    await expect(rest(), coding).rejects.toMatchObject({ code: "ECONNRESET" });
  }
  const { token, clientId } = await platform.credential("partner-1", {});
  const { rest } = await ask(path, token).opened;
  await platform.store.write(revokeCredential, { clientId, actor: "test" });
  await expect(rest()).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await call(`${path}`, { headers: { authorization: `Bearer ${caller.token}` } })).status).toBe(401);
});

/** A daemon whose one partner has a fulfilled sandbox order of `lines` lines with `quantity` units each. */
async function servedOrder(lines: number, quantity: number) {
  const url = onPostgres ? (await freshPostgres()).url : undefined;
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url, stock: { EU5: 1 }, priceCents: 1, fundsCents: 1, sandbox: true });
  const daemon = await startDaemon(shop.served);
  const token = await shopToken(shop, daemon.url);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": "large" };
  const line_items = Array.from({ length: lines }, () => ({ product_id: shop.products.EU5, quantity }));
  const body = JSON.stringify({ line_items });
  const placed = await call(`${daemon.url}/api/v1/orders`, { method: "POST", headers, body });
  const path = `${daemon.url}/api/v1/orders/${placed.body.id}`;
  await eventually(
    () => call(`${path}/esims?limit=1`, { headers }),
    ({ status }) => status === 200,
  );
  return { shop, daemon, token, path, number: placed.body.order_number as string };
}

test("the terminal reads a whole large order page by page, on local data and at a server", {
  tags: ["slow"],
}, async () => {
  const { shop, daemon, number, path, token } = await servedOrder(2, 700);
  const at = targetOf(shop.served);
  const options = { env: at.env };
  const whole = await call(`${path}/esims`, { headers: { authorization: `Bearer ${token}` } });
  expect(whole.body).toMatchObject({ order_id: expect.any(String), count: 1_400 });
  expect(await esimctlJson(["orders", "esims", number, ...at.args], options)).toEqual(whole.body);
  const server = ["--server", daemon.url, "--client-id", shop.clientId, "--client-secret", shop.clientSecret];
  expect(await esimctlJson(["orders", "esims", number, ...server], options)).toEqual(whole.body);
  const several = await esimctl(["esims", "status", number, ...server], options);
  expect(several).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/names more than 100 records: .*, and o/),
  });
  const { stdout } = await esimctl(["orders", "esims", number, ...at.args], options);
  const shown = [...stdout.matchAll(/^iccid +(\d+)$/gm)].map(([, iccid]) => iccid);
  expect(shown).toEqual(whole.body.esims.map(({ iccid }: { iccid: string }) => iccid));
  const trail = await esimctlJson(["audit", "list", "--target", whole.body.order_id, ...at.args], options);
  const read = Object(trail).data.filter(({ action }: { action: string }) => action === "orders.read-codes");
  // Newest first: what each page showed.
  expect(read.map(({ note }: { note: string }) => note)).toEqual([1, 2].flatMap(() => ["400 eSIMs", "1000 eSIMs"]));
  const order = await esimctlJson(["orders", "show", number, ...at.args], options);
  expect(order).toMatchObject({ line_items: [{ fulfillment: { status: "fulfilled" } }, {}] });
});

test.skipIf(onPostgres)(
  "the terminal holds no more of a large order than a page of it",
  { tags: ["slow"] },
  async () => {
    const { shop, number } = await servedOrder(4, 10_000);
    const { args, env } = targetOf(shop.served);
    // All of it takes more, as a text alone.
    const bounded = { ...env, NODE_OPTIONS: "--max-old-space-size=48" };
    for (const form of [["--json"], []]) {
      const { exitCode, stdout, stderr } = await esimctlProcess(["orders", "esims", number, ...form, ...args], {
        env: bounded,
      });
      expect([exitCode, stderr]).toEqual([0, ""]);
      expect(stdout.match(/\biccid"?:? +"?\d+/g)).toHaveLength(MANY);
    }
  },
);

test("SIGTERM aborts large bodies at once, also waiting ones", { tags: ["slow"] }, async () => {
  const { daemon, token, path } = await servedOrder(3, 10_000);
  const { rest } = await ask(`${path}/esims`, token).opened;
  const waiting = ask(`${path}/esims`, token);
  const refused = waiting.opened.then(({ message }) => message.statusCode);
  await call(`${daemon.url}/healthz`);
  const began = performance.now();
  const stopped = daemon.stop();
  await expect(rest()).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(await refused).toBe(503);
  expect((await stopped).exitCode).toBe(0);
  // It does not wait for them as it does for other requests.
  expect(performance.now() - began).toBeLessThan(25_000);
});

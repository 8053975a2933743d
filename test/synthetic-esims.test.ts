import { FF1 } from "@noble/ciphers/ff1.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deliveredEsims } from "../src/core/esims/delivered.ts";
import { activateEsim, makeActive } from "../src/core/esims/life.ts";
import { codesOfUnits, firstUnitOfId, indexOfId, unitOfIccid } from "../src/core/esims/synthetic.ts";
import { findStory } from "../src/core/find/find.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { luhnValid } from "../src/core/kernel/check-digits.ts";
import { digitCipher, FOURTEEN_DIGITS } from "../src/core/kernel/ff1.ts";
import { fulfillStep } from "../src/core/orders/fulfill.ts";
import { createVault } from "../src/core/store/sealing/create-vault.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { type Caller, call, type Platform, startPlatform } from "./support/platform.ts";
import { rewind, runStatements } from "./support/store.ts";

const key = new Uint8Array(32).fill(11);
const number = fc.integer({ min: 0, max: FOURTEEN_DIGITS - 1 });
const digits = (value: number) => Array.from(String(value).padStart(14, "0"), Number);

function vaultOf(secret: Buffer) {
  const vault = createVault(Buffer.alloc(32));
  vault.reload([{ id: "link", purpose: "index", secret, retired: false }]);
  return vault;
}

const vault = vaultOf(Buffer.from(key));

describe("codes", () => {
  test("the permutation is FF1 as in another implementation, and its inverse reverts it", () => {
    const reference = FF1(10, key);
    const cipher = digitCipher(key);
    fc.assert(
      fc.property(number, (value) => {
        const [encrypted = -1] = cipher.encrypt([value]);
        expect(digits(encrypted)).toEqual(Array.from(reference.encrypt(digits(value))));
        expect(cipher.decrypt(encrypted)).toBe(value);
      }),
      { numRuns: 100 },
    );
    const page = fc.uniqueArray(number, { maxLength: 600 });
    fc.assert(
      fc.property(page, (values) => {
        const all = cipher.encrypt(values);
        expect(all).toEqual(values.map((value) => cipher.encrypt([value])[0]));
        expect(new Set(all).size).toBe(values.length);
      }),
      { numRuns: 20 },
    );
  });

  test("an ICCID and an id decode to their unit, under their own key only", () => {
    const other = vaultOf(Buffer.alloc(32, 12));
    const orders = fc.record({
      first_unit: fc.integer({ min: 0, max: FOURTEEN_DIGITS - 500_000 }),
      ahead_ms: fc.constant(0),
      created_at: fc.integer({ min: 1, max: 4_102_444_800_000 }),
    });
    fc.assert(
      fc.property(orders, fc.integer({ min: 0, max: 499_999 }), (order, index) => {
        const [code] = codesOfUnits(vault, order, [index]);
        const { id = "", iccid = "" } = code ?? {};
        expect(iccid).toMatch(/^8999\d{15}$/);
        expect(luhnValid(iccid)).toBe(true);
        expect(unitOfIccid(vault, iccid)).toBe(order.first_unit + index);
        expect([firstUnitOfId(vault, id), indexOfId(id)]).toEqual([order.first_unit, index]);
        expect(unitOfIccid(other, iccid)).not.toBe(order.first_unit + index);
      }),
      { numRuns: 300 },
    );
  });

  test("units of an order have distinct codes, and ids that sort like the units", () => {
    const order = { first_unit: 123_456_789, ahead_ms: 0, created_at: Date.parse("2026-03-02T01:00:00.000Z") };
    const codes = codesOfUnits(
      vault,
      order,
      Array.from({ length: 25_000 }, (_, index) => index * 20),
    );
    expect(new Set(codes.map(({ iccid }) => iccid)).size).toBe(25_000);
    const ids = codes.map(({ id }) => id);
    expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? ""))).toBe(true);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

async function shop(): Promise<Platform & { caller: Platform["caller"]; partner: Caller; product: string }> {
  const platform = await startPlatform();
  const { EU5 = "" } = await addProducts(platform.store, [{ sku: "EU5", name: "Europe" }, ...suppliedProducts]);
  return { ...platform, partner: await platform.caller(), product: EU5 };
}

let orders = 0;

async function buy(caller: Caller, lines: [product: string, quantity: number][], more: object = {}) {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  return caller.send("POST", "/api/v1/orders", { line_items, ...more }, { "idempotency-key": `order-${++orders}` });
}

async function bought(platform: Platform, caller: Caller, lines: [string, number][], more: object = {}) {
  const { status, body } = await buy(caller, lines, more);
  expect(status).toBe(201);
  await platform.fulfill();
  return body.id as string;
}

const esimsOf = async (caller: Caller, id: string) => (await caller.get(`/api/v1/orders/${id}/esims`)).body.esims;

function rowsOf({ store }: Platform) {
  return store.read(async (q) => q.db.select().from(q.t.esims), null);
}

describe("sandbox eSIMs", () => {
  test("are the same at every read, in every process, without a stored row", async () => {
    const platform = await shop();
    const { partner, product } = platform;
    const id = await bought(platform, partner, [
      [product, 3],
      [product, 2],
    ]);
    const esims = await esimsOf(partner, id);
    expect(esims).toHaveLength(5);
    expect(new Set(esims.map((esim: { iccid: string }) => esim.iccid)).size).toBe(5);
    expect(await esimsOf(partner, id)).toEqual(esims);
    const { body } = await partner.get(`/api/v1/orders/${id}`);
    const shown = body.line_items.flatMap((line: { fulfillment: { esims: object[] } }) => line.fulfillment.esims);
    const codes = ["iccid", "activation_code", "smdp_address", "matching_id", "qr_code_url", "install_url"];
    const same = esims.map((esim: Record<string, unknown>) =>
      Object.fromEntries(codes.map((code) => [code, esim[code]])),
    );
    expect(shown).toEqual(same);
    const second = await platform.again();
    const [found] = await second.read(deliveredEsims, esims[4].iccid);
    expect(found?.esim).toMatchObject({ id: esims[4].id, order_id: id });
    expect(await rowsOf(platform)).toEqual([]);
  });

  test("have a status; another partner's is a 403, and an undelivered one a 404", async () => {
    const platform = await shop();
    const { partner, product } = platform;
    const id = await bought(platform, partner, [[product, 2]]);
    const [, { iccid }] = await esimsOf(partner, id);
    const status = (caller: Caller, of: string) => caller.get(`/api/v1/esims/${of}/status`);
    expect((await status(partner, iccid)).body).toMatchObject({
      iccid,
      order_id: id,
      status: "inactive",
      is_test: true,
    });
    expect((await status(await platform.caller(), iccid)).status).toBe(403);
    expect((await status(await platform.credential("partner-1", { live: true }), iccid)).status).toBe(404);
    const { body: open } = await buy(partner, [[product, 1]]);
    const first_unit = await platform.store.read(async (q) => {
      const rows = await q.db.select().from(q.t.orders);
      return rows.find((row) => row.id === open.id)?.first_unit ?? -1;
    }, null);
    expect(first_unit).toBe(2);
    const [next] = codesOfUnits(platform.store.vault, { first_unit, created_at: 1, ahead_ms: 0 }, [0]);
    expect((await status(partner, next?.iccid ?? "")).status).toBe(404);
    await platform.fulfill();
    expect((await status(partner, next?.iccid ?? "")).body).toMatchObject({ order_id: open.id });
    // Physical SIMs take numbers and have no eSIM; no order has the numbers behind the last one.
    const [never] = codesOfUnits(platform.store.vault, { first_unit: 3, created_at: 1, ahead_ms: 0 }, [0]);
    expect((await status(partner, never?.iccid ?? "")).status).toBe(404);
  });

  test("have QR codes and install pages, and are found by ICCID, id and order", async () => {
    const platform = await shop();
    const { partner, product, store } = platform;
    const id = await bought(platform, partner, [[product, 60]]);
    const esims = await esimsOf(partner, id);
    const esim = esims[59];
    const at = (link: string) => platform.url + new URL(link).pathname;
    expect((await fetch(at(esim.qr_code_url))).headers.get("content-type")).toBe("image/png");
    const page = await call(at(esim.install_url));
    expect(page.body).toContain(encodeURIComponent(esim.activation_code));
    expect((await call(at(esim.install_url).replace(/.$/, (end) => (end === "A" ? "B" : "A")))).status).toBe(404);
    for (const word of [esim.iccid, esim.id]) {
      const { matched } = await store.read(findStory, word);
      expect(matched).toContainEqual(expect.objectContaining({ kind: "esim", id: esim.id, name: esim.iccid }));
      expect(matched).toContainEqual(expect.objectContaining({ kind: "order", id }));
    }
    const ofOrder = await store.read(findStory, id);
    expect(ofOrder.truncated).toEqual(["esim"]);
    expect(ofOrder.matched.filter(({ kind }) => kind === "esim")).toHaveLength(50);
    expect(ofOrder.matched).toContainEqual(expect.objectContaining({ id: esim.id }));
  });

  test("carry the EID that each was ordered for", async () => {
    const platform = await shop();
    const { PUSH = "", API = "" } = await addProducts(platform.store, suppliedProducts);
    const eids = ["89049032000000000000000000000024", "89049032000000000000000000000032"];
    const activation_requests = eids.map((eid_number, at) => ({
      product_id: PUSH,
      customer_email: `traveler-${at}@example.com`,
      customer_name: "Mia Chen",
      activation_date: "2026-04-01",
      eid_number,
    }));
    const lines: [string, number][] = [
      [API, 3],
      [PUSH, 2],
    ];
    const id = await bought(platform, platform.partner, lines, { activation_requests });
    const esims = await esimsOf(platform.partner, id);
    expect(esims.map((esim: { eid: string | null }) => esim.eid)).toEqual([null, null, null, ...eids]);
    const { body } = await platform.partner.get(`/api/v1/orders/${id}`);
    expect(body.line_items[1].fulfillment.esims.map((esim: { eid_number: string }) => esim.eid_number)).toEqual(eids);
  });

  test("have a row from their first change on, and show its state", async () => {
    const platform = await shop();
    const { partner, product, store } = platform;
    const id = await bought(platform, partner, [[product, 3]]);
    const before = await esimsOf(partner, id);
    const { iccid } = before[1];
    // The operator's commands are for real eSIMs.
    await expect(store.write(activateEsim, { iccid, actor: "test" })).rejects.toMatchObject({ slug: "not_found" });
    const change = async () => {
      const [known] = await store.read(deliveredEsims, iccid);
      if (known !== undefined) await store.write((tx) => makeActive(tx, known, { actor: "test", at: tx.now }), null);
    };
    await change();
    await change();
    expect(await rowsOf(platform)).toHaveLength(1);
    const activated_at = new Date(platform.clock.now()).toISOString();
    expect(await esimsOf(partner, id)).toEqual([
      before[0],
      { ...before[1], status: "active", activated_at },
      before[2],
    ]);
    expect((await partner.get(`/api/v1/esims/${iccid}/status`)).body).toMatchObject({ status: "active", activated_at });
    expect((await store.read(findStory, iccid)).matched.filter(({ kind }) => kind === "esim")).toHaveLength(1);
  });

  test("of an order of 50 lines of 10,000 are ready in one transaction that adds less than 1 MB", async () => {
    const platform = await shop();
    const { partner, product, store } = platform;
    await bought(platform, partner, [[product, 1]]);
    const before = await bytesOf(platform);
    const lines = Array.from({ length: 50 }, (): [string, number] => [product, 10_000]);
    const { status, body } = await buy(partner, lines);
    expect(status).toBe(201);
    expect(await store.write(fulfillStep, body.id)).toBe("done");
    expect((await bytesOf(platform)) - before).toBeLessThan(1_000_000);
    expect(await rowsOf(platform)).toEqual([]);
    const { matched } = await store.read(findStory, body.id);
    const { name: iccid } = matched.find(({ kind }) => kind === "esim") ?? {};
    expect((await partner.get(`/api/v1/esims/${iccid}/status`)).body).toMatchObject({ order_id: body.id });
  });

  test("are exhausted with the 14 digits: the order is refused and its key stays free", async () => {
    const platform = await shop();
    const { partner, product } = platform;
    await runStatements(platform.location, [
      `INSERT INTO settings (key, value) VALUES ('sandbox_units', '${FOURTEEN_DIGITS - 3}')`,
    ]);
    expect((await buy(partner, [[product, 4]])).body).toMatchObject({ status: 409, type: /conflict$/ as unknown });
    const id = await bought(platform, partner, [[product, 3]]);
    expect(await esimsOf(partner, id)).toHaveLength(3);
    expect((await buy(partner, [[product, 1]])).status).toBe(409);
  });
});

describe("a database of an earlier version", () => {
  test("keeps the eSIMs of delivered orders, and restarts orders in fulfillment", async () => {
    const platform = await shop();
    const { partner, product, location } = platform;
    const done = await bought(platform, partner, [[product, 2]]);
    const { body: open } = await buy(partner, [[product, 3]]);
    const old = (id: string, order: string) => `INSERT INTO esims (id, iccid, product_id, order_id, line_id, partner_id,
      environment, status, created_at, assigned_at)
      SELECT '${id}', '899986877768674184${id.slice(-1)}', product_id, order_id, id, partner_id, environment,
      'inactive', 1, 1 FROM order_lines WHERE order_id = '${order}'`;
    const ids = [1, 2, 3].map((at) => `01990000-0000-7000-8000-00000000000${at}`);
    const [one = "", two = "", three = ""] = ids;
    await rewind(location, "9004_sandbox_units", [
      "DELETE FROM settings WHERE key = 'sandbox_units'",
      "UPDATE orders SET first_unit = NULL",
      old(one, done),
      old(two, done),
      old(three, open.id),
      `UPDATE order_lines SET assigned = 1 WHERE order_id = '${open.id}'`,
    ]);
    await platform.again();
    const kept = await esimsOf(partner, done);
    expect(kept.map((esim: { id: string }) => esim.id)).toEqual([one, two]);
    expect((await partner.get(`/api/v1/esims/${kept[1].iccid}/status`)).body).toMatchObject({ order_id: done });
    await platform.fulfill();
    const fresh = await esimsOf(partner, open.id);
    expect(fresh).toHaveLength(3);
    expect(fresh.map((esim: { id: string }) => esim.id)).not.toContain(three);
    const numbered = await platform.store.read(async (q) => q.db.select().from(q.t.orders), null);
    expect(numbered.map((row) => [row.id as OrderId, row.first_unit])).toEqual([
      [done, null],
      [open.id, 0],
    ]);
    expect(await esimsOf(partner, await bought(platform, partner, [[product, 1]]))).toHaveLength(1);
  });
});

/** The size of the database's tables and indexes. */
async function bytesOf({ location }: Platform): Promise<number> {
  if ("url" in location) {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: location.url });
    await client.connect();
    const { rows } = await client.query("SELECT pg_database_size(current_database()) AS bytes");
    await client.end();
    return Number(rows[0].bytes);
  }
  const { default: Database } = await import("better-sqlite3");
  const database = new Database(location.file, { readonly: true });
  const pages = Number(database.pragma("page_count", { simple: true }));
  const size = Number(database.pragma("page_size", { simple: true }));
  database.close();
  return pages * size;
}

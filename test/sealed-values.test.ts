import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { rotateAndReseal } from "../src/core/credentials/rotate-keys.ts";
import { rotateSigningKey } from "../src/core/credentials/signing-keys.ts";
import { openCodes } from "../src/core/esims/sealed-codes.ts";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { runChecks } from "../src/core/maintenance/doctor.ts";
import { drawPassport } from "../src/core/passports/draw.ts";
import { type Location, openStore } from "../src/core/store/open/open.ts";
import { sealedPlaces } from "../src/core/store/sealing/reseal.ts";
import type { Read, Tx } from "../src/core/store/store.ts";
import { type Cell, type SealedColumn, sealedColumns, UnreadableError } from "../src/core/store/vault.ts";
import { startActivationPlatform } from "./support/activations.ts";
import { startCarrier, useHttpCarrier } from "./support/carrier.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { testClock } from "./support/clock.ts";
import { earlierDatabase, openEarlier } from "./support/earlier.ts";
import { draws, importRecords, makeDrawable, passport, withAgent } from "./support/passports.ts";
import { call, type Platform, startPlatform } from "./support/platform.ts";
import { anyCharacter, property } from "./support/rounds.ts";
import { openTestStore, runStatements, temporaryDirectory } from "./support/store.ts";
import { placeOrder } from "./support/supplies.ts";

/** Copies a sealed value with SQL, as anyone who can write to the database may. */
const copy = (location: Location, { from, to }: { from: Cell; to: Cell }) => {
  const [fromTable = "", fromColumn = ""] = from.column.split(".");
  const [toTable = "", toColumn = ""] = to.column.split(".");
  const value = `(SELECT ${fromColumn} FROM ${fromTable} WHERE id = '${from.row}')`;
  return runStatements(location, [`UPDATE ${toTable} SET ${toColumn} = ${value} WHERE id = '${to.row}'`]);
};

const cell = (column: SealedColumn, row: string): Cell => ({ column, row });

/** What doctor finds of sealed values. */
async function diagnosed({ location, masterKey }: Pick<Platform, "location" | "masterKey">) {
  const where = "file" in location ? { file: location.file } : location;
  const keyFile = join(temporaryDirectory(), "esimctl.key");
  writeFileSync(keyFile, `esimctl-key-v1:${masterKey.toString("base64url")}\n`, { mode: 0o600 });
  const findings = await runChecks({ where, keys: { file: keyFile, given: [] }, directory: null, clock: systemClock });
  return findings.find(({ check }) => check === "sealed_values");
}

describe("a sealed value that was copied with SQL", () => {
  test("into another row does not open there: the list shows that row as unreadable, and all others", async () => {
    const platform = await withAgent();
    const { agent, location, store } = platform;
    const [whole = "", broken = ""] = await importRecords(agent, [passport(), passport({ passport_no: "ZZ1" })]);
    const reported: string[] = [];
    store.onUnreadable((error) => reported.push(error.message));
    await copy(location, { from: cell("passports.sealed", whole), to: cell("passports.sealed", broken) });

    const { status, body } = await agent.get("/api/v1/kyc/passports");
    expect([status, body.count]).toEqual([200, 2]);
    const records = new Map(body.records.map((record: { id: string }) => [record.id, record]));
    const address = "219 Banksia Street";
    expect(records.get(whole)).toMatchObject({ passport_no: expect.stringMatching(/^PA/), address });
    expect(records.get(whole)).not.toHaveProperty("unreadable");
    const names = { first_name: "", last_name: "", title: null };
    const empty = { passport_no: "", date_of_birth: "", address: null, suburb: null, state: null, postcode: null };
    expect(records.get(broken)).toMatchObject({ ...names, ...empty, unreadable: true, passport_country: "GBR" });
    const found = await agent.get("/api/v1/kyc/passports?passport_no=ZZ1");
    expect(found.body.records).toMatchObject([{ id: broken, unreadable: true }]);
    // Once, however often it is read.
    expect(reported).toEqual([expect.stringContaining(`passports.sealed in row ${broken}`)]);
    expect(await diagnosed(platform)).toMatchObject({
      level: "fault",
      message: `1 sealed value cannot be read: passports.sealed of ${broken}.`,
    });
  });

  test("is skipped by draws: the next passport is drawn", async () => {
    const { agent, location, store } = await withAgent();
    const [first = "", second = ""] = await makeTwo(agent, store);
    await copy(location, { from: cell("passports.sealed", second), to: cell("passports.sealed", first) });
    expect(await store.write(drawPassport, draws(agent))).toMatchObject({ passportId: second });
  });

  test("into another column or table does not open there either", async () => {
    const platform = await startActivationPlatform();
    const { location } = platform;
    const agent = await platform.caller({ agent: true });
    const [pooled = ""] = await importRecords(agent, [passport()]);
    const activation = await platform.submit(agent);
    await copy(location, { from: cell("passports.sealed", pooled), to: cell("activations.sealed", activation) });
    const create = async () => {
      const sent = { url: "https://hooks.example.com/", events: ["order.created"] };
      return (await agent.send("POST", "/api/v1/webhooks", sent)).body.webhook.id as string;
    };
    const [one, other] = [await create(), await create()];
    const current = cell("webhook_endpoints.secret_sealed", one);
    const next = cell("webhook_endpoints.next_secret_sealed", one);
    const of = (id: string) => cell("webhook_endpoints.secret_sealed", id);
    await copy(location, { from: current, to: next });
    await copy(location, { from: current, to: of(other) });
    expect((await diagnosed(platform))?.message).toContain("3 sealed values cannot be read");
    // What does not read them is as before.
    expect((await agent.get("/api/v1/activations")).body.count).toBe(1);
    const { body } = await agent.get("/api/v1/webhooks");
    expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual([one, other].sort());
  });

  test("shows an eSIM without codes, and other eSIMs of the order with theirs", async () => {
    const platform = await startPlatform();
    const { store, location } = platform;
    const buyer = await platform.caller({ live: true });
    const products = await addProducts(store, [{ sku: "EU5" }]);
    await addStock(store, "EU5", 2);
    await platform.fund(buyer.partnerId, 100_000);
    const order = await placeOrder(buyer, products.EU5, 2);
    await platform.fulfill();
    const esims = async () => (await buyer.get(`/api/v1/orders/${order}/esims`)).body.esims;
    const [whole, broken] = await esims();
    await copy(location, { from: cell("esims.sealed", whole.id), to: cell("esims.sealed", broken.id) });

    const empty = { smdp_address: "", matching_id: "", activation_code: "", unreadable: true };
    const { activation_code, matching_id } = whole;
    const links = { qr_code_url: broken.qr_code_url, install_url: broken.install_url };
    expect(await esims()).toMatchObject([whole, { ...broken, ...empty, confirmation_code: null }]);
    const { body } = await buyer.get(`/api/v1/orders/${order}`);
    expect(body.line_items[0].fulfillment.esims).toMatchObject([
      { iccid: whole.iccid, activation_code, matching_id },
      { iccid: broken.iccid, ...empty, ...links },
    ]);
    const at = (address: string) => call(address.replace("http://esim.test", platform.url));
    expect(await at(whole.qr_code_url)).toMatchObject({ status: 200 });
    const refusal = { status: 404, body: { detail: "The codes of this eSIM cannot be read. Contact its seller." } };
    for (const address of Object.values(links)) expect(await at(address)).toMatchObject(refusal);
    expect((await buyer.get(`/api/v1/esims/${broken.iccid}/status`)).status).toBe(200);
    expect(await diagnosed(platform)).toMatchObject({
      message: expect.stringContaining(`esims.sealed of ${broken.id}`),
    });
  });

  test("never reaches a carrier: the request is left to staff, and the others are sent", async () => {
    const platform = await startActivationPlatform({ start: "2026-03-02T01:00:00.000Z" });
    const carrier = await startCarrier();
    await useHttpCarrier(platform.store, carrier.url);
    const caller = await platform.caller();
    const today = { activation_date: "2026-03-02" };
    const broken = await platform.submit(caller, { ...today, last_name: "Copied" });
    const whole = await platform.submit(caller, today);
    const sealed = "activations.sealed";
    await copy(platform.location, { from: cell(sealed, whole), to: cell(sealed, broken) });
    platform.clock.advance(10_000);
    await platform.work();
    expect(carrier.asked.map(({ reference }) => reference)).toEqual([whole]);
    expect(await platform.show(caller, broken)).toMatchObject({
      processing_status: "manual_required",
      error_type: "identity_unreadable",
    });
    expect(await platform.show(caller, whole)).toMatchObject({ processing_status: "processing" });
  });

  test("keeps a request's date, as its passport's expiry is unknown; a bulk change applies to the others", async () => {
    const platform = await startActivationPlatform();
    const caller = await platform.caller({ agent: true });
    const [broken, whole] = [await platform.submit(caller), await platform.submit(caller)];
    const sealed = "activations.sealed";
    await copy(platform.location, { from: cell(sealed, whole), to: cell(sealed, broken) });
    const requested_activation_date = "2026-03-11";
    const refused = await caller.send("PATCH", `/api/v1/activations/${broken}`, { requested_activation_date });
    expect(refused).toMatchObject({ status: 409, body: { reason: "identity_unreadable" } });
    const items = [broken, whole].map((activation_id) => ({ activation_id, requested_activation_date }));
    const { body } = await caller.send("POST", "/api/v1/activations/bulk/reschedule", { items });
    expect(body.results).toMatchObject([
      { status: "failed", reason: "identity_unreadable" },
      { activation_id: whole, status: "rescheduled" },
    ]);
  });

  test("as a signing key keeps tokens valid that it signed; a new key signs again", async () => {
    const { caller, location, store, url } = await startPlatform();
    const partner = await caller();
    const { clientId, clientSecret } = partner;
    const body = `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const asking = async () => (await call(`${url}/api/v1/oauth/token`, { method: "POST", headers, body })).status;
    await runStatements(location, ["UPDATE signing_keys SET private_sealed = 'v2.x.y'"]);
    await store.write(async (tx) => tx.touch(), null);
    expect((await partner.get("/api/v1/products")).status).toBe(200);
    expect(await asking()).toBe(500);
    await store.write(rotateSigningKey, { actor: "operator" });
    expect(await asking()).toBe(200);
    expect((await partner.get("/api/v1/products")).status).toBe(200);
  });
});

async function makeTwo(agent: Parameters<typeof importRecords>[0], store: Platform["store"]): Promise<string[]> {
  const ids = await importRecords(agent, [passport(), passport()]);
  await makeDrawable(store, ids);
  return ids;
}

property(
  "of random values in random cells each opens in its own, and in no other",
  { few: 15, many: 40 },
  async (numRuns) => {
    const { store } = await openTestStore(testClock());
    const place = fc.record({ column: fc.constantFrom(...sealedColumns), row: fc.oneof(fc.uuid(), fc.string()) });
    const stored = fc.uniqueArray(fc.record({ place, plain: fc.string({ unit: anyCharacter }) }), {
      selector: ({ place: { column, row } }) => `${column} ${row}`,
      minLength: 2,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(stored, async (values) => {
        const sealAll = async (tx: Tx) => values.map(({ place: at, plain }) => tx.vault.seal(plain, at));
        const sealed = await store.write(sealAll, null);
        for (const [i, text] of sealed.entries()) {
          for (const [j, { place: at, plain }] of values.entries()) {
            if (i === j) expect(store.vault.open(text, at)).toBe(plain);
            else expect(() => store.vault.open(text, at)).toThrow(UnreadableError);
          }
        }
      }),
      { numRuns },
    );
  },
);

test("no two sealed values share a nonce", async () => {
  const { store } = await openTestStore(testClock());
  const seal = async (tx: Tx) => Array.from({ length: 2_000 }, () => tx.vault.seal("x", cell("esims.sealed", "one")));
  const sealed = await store.write(seal, null);
  // The third part begins with the nonce: 12 bytes, 16 characters.
  expect(new Set(sealed.map((text) => text.split(".")[2]?.slice(0, 16))).size).toBe(2_000);
});

test("the names that values are bound to are those of every sealed column", () => {
  expect(sealedPlaces.map(({ name }) => name).sort()).toEqual([...sealedColumns].sort());
});

test("values under missing keys are unreadable, in lists and for doctor", async () => {
  const platform = await withAgent();
  const { agent, location } = platform;
  const ids = await importRecords(agent, [passport(), passport(), passport()]);
  const forged = [`v2.${crypto.randomUUID()}.AAAA`, "v1.x.y", ""];
  await runStatements(
    location,
    forged.map((text, at) => `UPDATE passports SET sealed = '${text}' WHERE id = '${ids[at]}'`),
  );
  const { status, body } = await agent.get("/api/v1/kyc/passports");
  expect([status, body.records.map((record: { unreadable?: boolean }) => record.unreadable)]).toEqual([
    200,
    [true, true, true],
  ]);
  expect(await diagnosed(platform)).toMatchObject({ level: "fault", message: expect.stringContaining("3 sealed") });
});

test("a rotation seals the others again, keeps the key of unreadable values, and reports it", async () => {
  const platform = await withAgent();
  const { agent, location, store } = platform;
  const [whole = "", broken = ""] = await importRecords(agent, [passport(), passport()]);
  await copy(location, { from: cell("passports.sealed", whole), to: cell("passports.sealed", broken) });
  const rotation = await rotateAndReseal(store, { actor: "operator", rest: async () => undefined });
  expect(rotation).toMatchObject({ finished: false, unreadable: 1, dropped: 0 });
  const { body } = await agent.get("/api/v1/kyc/passports");
  expect(body.records).toMatchObject([{ id: broken, unreadable: true }, { id: whole }]);
  await runStatements(location, [`DELETE FROM passports WHERE id = '${broken}'`]);
  const resumed = await rotateAndReseal(store, { actor: "operator", rest: async () => undefined });
  expect(resumed).toMatchObject({ finished: true, resumed: true, unreadable: 0, dropped: 1 });
});

describe("a database of an earlier version, whose values were bound to no row", () => {
  test("seals them again at its first start; the old form and its keys are refused afterwards", async () => {
    const old = await earlierDatabase(3);
    const { location, masterKey } = old;
    expect(await diagnosed(old)).toBeUndefined();
    const store = await openEarlier(old);
    if ("file" in location) {
      // No file of it holds a code in clear, or what the deleted key could open.
      const files = [location.file, `${location.file}-wal`].map((file) => readFileSync(file, "latin1")).join("\n");
      expect(files).not.toMatch(/old-\d\.example|O-1|v1\./);
    }
    const rows = await store.read(allPassports, null);
    for (const { id, sealed } of rows) {
      expect(sealed).toMatch(/^v2\./);
      const names = { first_name: "A", last_name: "B", title: null };
      const opened = store.vault.open(sealed, cell("passports.sealed", id));
      expect(JSON.parse(opened)).toEqual({ ...names, ...JSON.parse(old.plain(id)) });
    }
    const esims = await store.read(allEsims, null);
    expect(esims.map((esim) => openCodes(store, esim))).toEqual(old.codes);
    expect(await store.read(purposes, null)).toEqual(["cell", "credential", "index", "link"]);
    expect(await diagnosed(old)).toMatchObject({ level: "ok", message: "5 sealed values can be read." });
    // What an older backup still holds of it cannot be put back.
    await runStatements(location, [`UPDATE passports SET sealed = '${old.sealed("id-1")}' WHERE id = 'id-1'`]);
    const again = await openStore(location, { clock: testClock(), ids: randomIds(), masterKey });
    onTestFinished(() => again.close());
    const first = (await again.read(allPassports, null)).find(({ id }) => id === "id-1");
    expect(first?.sealed).toBe(old.sealed("id-1"));
    expect(() => again.vault.open(old.sealed("id-1"), cell("passports.sealed", "id-1"))).toThrow(UnreadableError);
  });

  test("continues an interrupted first start, and skips unreadable values", async () => {
    const old = await earlierDatabase(4);
    await runStatements(old.location, ["UPDATE passports SET sealed = 'v1.broken' WHERE id = 'id-2'"]);
    await (await openEarlier(old)).close();
    // As a start leaves it that was killed between two transactions: its key is there, some values are old.
    await runStatements(old.location, [
      old.fieldKey(),
      `UPDATE passports SET sealed = '${old.sealed("id-3")}' WHERE id = 'id-3'`,
    ]);
    const store = await openEarlier(old);
    const opened = await store.read(
      async (q) =>
        (await allPassports(q)).map(({ id, sealed }) => q.vault.openIfReadable(sealed, cell("passports.sealed", id))),
      null,
    );
    const whole = (id: string) => `{"first_name":"A","last_name":"B","title":null,${old.plain(id).slice(1)}`;
    expect(opened).toEqual([whole("id-0"), whole("id-1"), null, old.plain("id-3")]);
    expect(await store.read(purposes, null)).toEqual(["cell", "credential", "index", "link"]);
  });
});

const allPassports = (q: Read) => q.db.select().from(q.t.passports).orderBy(q.t.passports.id);

const allEsims = (q: Read) => q.db.select().from(q.t.esims).orderBy(q.t.esims.id);

const purposes = async (q: Read) => (await q.db.select().from(q.t.dataKeys)).map(({ purpose }) => purpose).sort();

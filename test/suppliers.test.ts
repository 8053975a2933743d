import { expect, onTestFinished, test } from "vitest";
import { findStory } from "../src/core/find/find.ts";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { signature, signatureHeader } from "../src/core/webhooks/signature.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../src/daemon/gateways/signed-exchange.ts";
import { createSupplierGateway } from "../src/daemon/gateways/suppliers.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { httpSupplier } from "./support/http-supplier.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { postSigned } from "./support/signed.ts";
import { smtpServer } from "./support/smtp.ts";
import { supplyDue } from "./support/supplies.ts";

const SECRET = "a secret of at least sixteen";
const EID = "89049032000000000000000000000017";

async function setUp(smtpUrl?: string) {
  const platform = await startPlatform({ start: "2026-03-02T01:00:00.000Z" });
  const products = await addProducts(platform.store, suppliedProducts);
  const caller = await platform.caller({ live: true, slug: "acme" });
  await platform.fund(caller.partnerId, 10_000);
  const exchange = createSignedExchange(platform.clock.now);
  const mailer = createMailer(smtpUrl);
  onTestFinished(async () => {
    mailer.close();
    await exchange.close();
  });
  const gateway = createSupplierGateway({ exchange, mailer, publicUrl: "http://esim.test" });
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
  const supply = () => supplyDue({ store: platform.store, gateway, log });
  return { platform, products, caller, supply };
}

async function http(platform: Platform, url: string) {
  const settings = { adapter: "http" as const, url, secret: SECRET };
  await platform.store.write(setSupplier, { name: "northwind", settings, actor: "operator" });
}

async function place(caller: Caller, product_id: string | undefined, quantity: number, requests: object[] = []) {
  const body = { line_items: [{ product_id, quantity }], activation_requests: requests };
  const { body: order } = await caller.send("POST", "/api/v1/orders", body, { "idempotency-key": crypto.randomUUID() });
  return order.id as string; // tests look at it as text
}

function esims(count: number, from = 1) {
  return Array.from({ length: count }, (_, i) => {
    const digits = `894477${String(from + i).padStart(12, "0")}`;
    return { iccid: digits + luhnDigit(digits), activation_code: `LPA:1$smdp.example.net$S-${from + i}` };
  });
}

test("the supplier's mail is sent once, at the first minute of the traveler's day", async () => {
  const smtp = await smtpServer();
  const { platform, products, caller, supply } = await setUp(smtp.url);
  const settings = { adapter: "email" as const, to: "orders@kestrel.test" };
  await platform.store.write(setSupplier, { name: "kestrel", settings, actor: "operator" });
  const who = {
    product_id: products.MAIL,
    customer_email: "mia@example.com",
    customer_name: "Mia\r\nBcc: x@evil.test",
  };
  const day = { activation_date: "2026-03-03", timezone: "Asia/Tokyo" };
  const id = await place(caller, products.MAIL, 1, [{ ...who, ...day, customer_phone: "+81 3 1234" }]);
  platform.clock.set("2026-03-02T14:59:59.999Z");
  await supply();
  expect(smtp.mails).toEqual([]);
  platform.clock.set("2026-03-02T15:00:00.000Z");
  const later = await platform.credential("acme", { live: true });
  smtp.state.refuse = true;
  await supply();
  expect((await later.get(`/api/v1/orders/${id}/activation-status`)).body).toMatchObject({ pending_count: 1 });
  smtp.state.refuse = false;
  platform.clock.advance(60_000);
  await supply();
  await supply();
  expect(smtp.mails).toHaveLength(1);
  const [mail] = smtp.mails;
  expect(mail?.to).toEqual(["orders@kestrel.test"]);
  expect(mail?.text).toMatch(/^From: platform@esim.test$/m);
  expect(mail?.text).toMatch(/^Subject: Activation 2026-03-03: MAIL, order ORD-/m);
  expect(mail?.text).not.toMatch(/^Bcc:/m);
  const { body } = await later.get(`/api/v1/orders/${id}/activation-status`);
  expect(body).toMatchObject({ submitted_count: 1, activations: [{ submitted_at: "2026-03-02T15:01:00.000Z" }] });
  expect(mail?.text).toContain(`Message-ID: <${body.activations[0].item_id}@esim.test>`);
});

test("the operator's template is used for the mail; an invalid one is refused", async () => {
  const smtp = await smtpServer();
  const { platform, products, caller, supply } = await setUp(smtp.url);
  const set = (template: string) =>
    platform.store.write(setSupplier, {
      name: "kestrel",
      settings: { adapter: "email", to: "orders@kestrel.test", template },
      actor: "operator",
    });
  await expect(set("no subject")).rejects.toMatchObject({ errors: { template: [expect.stringMatching(/Subject/)] } });
  const strange = { errors: { template: [expect.stringMatching(/not passport/)] } };
  await expect(set("Subject: x\n\n{{passport}}")).rejects.toMatchObject(strange);
  await set("Subject: {{customer_name}} / {{eid_number}}\n\nHello, {{product_name}}.\n\nBye.\n");
  const who = { product_id: products.MAIL, customer_email: "mia@example.com", customer_name: "Mia Chen" };
  await place(caller, products.MAIL, 1, [{ ...who, activation_date: "2026-03-02" }]);
  await supply();
  expect(smtp.mails[0]?.text).toMatch(/^Subject: Mia Chen \/ -$/m);
  expect(smtp.mails[0]?.text).toMatch(/Hello, Plan MAIL\.\r\n\r\nBye\./);
});

test("an HTTP supplier's eSIMs are delivered; the request is signed and keeps its reference over retries", async () => {
  let tries = 0;
  const supplier = await httpSupplier(({ body }) =>
    ++tries === 1 ? { status: 503, body: {} } : { body: { outcome: "activated", esims: esims(Number(body.quantity)) } },
  );
  const { platform, products, caller, supply } = await setUp();
  await http(platform, supplier.url);
  const id = await place(caller, products.API, 3);
  await supply();
  platform.clock.advance(60_000);
  await supply();
  expect(supplier.asked).toHaveLength(2);
  const [first, second] = supplier.asked;
  expect(first?.headers["idempotency-key"]).toBe(second?.headers["idempotency-key"]);
  expect(first?.body).toMatchObject({ kind: "supplier_api", product_sku: "API", quantity: 3, traveler: null });
  const seconds = Number(/t=(\d+)/.exec(String(second?.headers["x-signature"]))?.[1]);
  expect(second?.headers["x-signature"]).toBe(signatureHeader(seconds, signature(SECRET, seconds, second?.raw ?? "")));
  expect((await caller.get(`/api/v1/orders/${id}`)).body.status).toBe("fulfilled");
  expect((await caller.get(`/api/v1/orders/${id}/esims`)).body.count).toBe(3);
  // Support reads each exchange, with its code, in the order's timeline.
  const { timeline } = await platform.store.read(findStory, id);
  expect(timeline.filter(({ kind }) => kind === "supplier").map(({ text }) => text)).toEqual([
    expect.stringMatching(/^item 1 \(northwind\) request 503 in \d+ ms, temporary: it answered 503$/),
    expect.stringMatching(/^item 1 \(northwind\) request 200 in \d+ ms, activated: 8944\d+, 8944\d+, 8944\d+$/),
  ]);
});

test("invalid responses are faults: too few eSIMs, unknown outcomes, ICCIDs sold already", async () => {
  const answers: unknown[] = [
    { outcome: "activated", esims: esims(1, 50) },
    { outcome: "done" },
    { outcome: "activated", esims: [...esims(1, 60), { iccid: "1", activation_code: "x" }] },
  ];
  const supplier = await httpSupplier(({ body }) => ({
    body: answers.shift() ?? { outcome: "activated", esims: esims(Number(body.quantity), 70) },
  }));
  const { platform, products, caller, supply } = await setUp();
  await http(platform, supplier.url);
  const id = await place(caller, products.API, 2);
  for (const minutes of [1, 2, 4]) {
    await supply();
    expect((await caller.get(`/api/v1/orders/${id}`)).body.status).toBe("paid");
    platform.clock.advance(minutes * 60_000);
  }
  await supply();
  expect((await caller.get(`/api/v1/orders/${id}/esims`)).body.count).toBe(2);
  // The same ICCIDs for another order.
  const other = await place(caller, products.API, 2);
  await supply();
  expect((await caller.get(`/api/v1/orders/${other}`)).body.status).toBe("paid");
});

test("a refusal by the supplier fails and refunds the order", async () => {
  const refusal = { outcome: "refused", error_type: "plan_withdrawn", error_message: "No longer sold" };
  const supplier = await httpSupplier(() => ({ status: 422, body: refusal }));
  const { platform, products, caller, supply } = await setUp();
  await http(platform, supplier.url);
  const id = await place(caller, products.API, 2);
  await supply();
  expect((await caller.get(`/api/v1/orders/${id}`)).body.status).toBe("failed");
  expect((await caller.get("/api/v1/balance")).body.balances[0].balance_cents).toBe(10_000);
});

test("a supplier responds later by a signed callback, any number of times", async () => {
  const supplier = await httpSupplier(() => ({ body: { outcome: "accepted" } }));
  const { platform, products, caller, supply } = await setUp();
  await http(platform, supplier.url);
  const who = {
    product_id: products.PUSH,
    customer_email: "mia@example.com",
    customer_name: "Mia Chen",
    eid_number: EID,
  };
  const id = await place(caller, products.PUSH, 1, [{ ...who, activation_date: "2026-03-02" }]);
  await supply();
  expect(supplier.asked[0]?.body).toMatchObject({
    kind: "eid_push",
    traveler: { eid_number: EID, customer_name: "Mia Chen" },
    callback_url: "http://esim.test/api/v1/callbacks/suppliers/northwind",
  });
  const reference = supplier.asked[0]?.body.reference;
  const callback = (body: object, secret = SECRET, name = "northwind") =>
    postSigned(platform, `/api/v1/callbacks/suppliers/${name}`, body, secret);
  const done = { reference, outcome: "activated", confirmation_number: "CN-1" };
  expect((await callback(done, "another secret altogether")).status).toBe(401);
  expect((await callback(done, SECRET, "nobody")).status).toBe(401);
  expect((await callback({ ...done, reference: crypto.randomUUID() })).status).toBe(404);
  expect((await callback({ ...done, outcome: "maybe" })).status).toBe(400);
  expect((await callback({ reference, outcome: "confirmed" })).body).toEqual({ ok: true, applied: true });
  const delivered = await callback(done);
  expect(delivered.body).toEqual({ ok: true, applied: true });
  const requestId = delivered.headers.get("x-request-id") ?? "";
  const story = await platform.store.read(findStory, requestId);
  expect(story.matched.map(({ kind }) => kind)).toContain("order");
  expect(story.timeline.filter((moment) => moment.request_id === requestId)).toMatchObject([{ kind: "supplier" }]);
  expect((await callback(done)).body).toEqual({ ok: true, applied: false });
  expect((await caller.get(`/api/v1/orders/${id}`)).body.status).toBe("fulfilled");

  // A response after a cancellation changes nothing.
  const cancelled = await place(caller, products.PUSH, 1, [{ ...who, activation_date: "2026-03-02" }]);
  await supply();
  await platform.store.write(cancelOrder, { id: cancelled as never, reason: "changed mind", actor: "operator" });
  const late = { ...done, reference: supplier.asked[1]?.body.reference };
  expect((await callback(late)).body).toEqual({ ok: true, applied: false });
  expect((await caller.get(`/api/v1/orders/${cancelled}`)).body.status).toBe("cancelled");
});

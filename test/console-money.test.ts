import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { listTransactions } from "../src/core/wallet/transactions.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import type { Platform } from "./support/platform.ts";
import { create, lines } from "./support/quotes.ts";

async function withRequest(amount_cents = 150_000) {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme" });
  const { body } = await caller.send("POST", "/api/v1/wallet/funding-requests", { amount_cents, currency: "AUD" });
  const reference: string = body.reference;
  return { platform, caller, reference };
}

async function movements({ store }: Platform, partnerId: never) {
  const { data } = await store.read(listTransactions, { partnerId, limit: 10 });
  return data.map(({ kind, amount_cents, reference }) => [kind, amount_cents, reference]);
}

test("finance credits a payment against a line of the bank, once, however often the form is sent", async () => {
  const { platform, caller, reference } = await withRequest();
  const finance = await person(platform, { role: "finance" });
  const page = await finance.get("/console/money?status=requested");
  expect(page.text).toContain(reference);
  const other = await finance.send(page, { reference, amount: "1499.00" });
  expect(other.status).toBe(400);
  expect(other.text).toContain(`Amount at the bank is 1499.00 AUD, and ${reference} announced 1500.00 AUD`);
  const unknown = await finance.send(page, { reference: "FND-NOSUCH00", amount: "1500.00" });
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining("names no announced payment")]);
  for (let sent = 0; sent < 2; sent++) {
    const credited = await finance.send(page, { reference, amount: "1500.00" });
    expect([credited.status, credited.path]).toEqual([200, `/console/money/funding/${reference}`]);
    expect(credited.text).toContain(sent === 0 ? "1,500.00 AUD is credited to acme" : "This form was sent before");
  }
  expect(await movements(platform, caller.partnerId as never)).toEqual([["credit", 150_000, reference]]);
  const again = await finance.send(await finance.get("/console/money"), { reference, amount: "1500.00" });
  expect([again.status, again.text]).toEqual([409, expect.stringContaining("was credited on 2026-03-02")]);
  const lines = await platform.store.read(listAudit, { target: reference, limit: 5 });
  expect(lines.map(({ action, actor }) => [action, actor])).toContainEqual(["funding.credit", `user:${finance.id}`]);
});

test("ten minutes later the second factor is asked for again, and the act goes on with the code", async () => {
  const { platform, caller, reference } = await withRequest();
  const finance = await person(platform, { role: "finance" });
  const page = await finance.get(`/console/money/funding/${reference}`);
  platform.clock.advance(10 * 60_000);
  const asked = await finance.send(page, { amount: "1500.00" });
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("Confirm that it is you")]);
  expect(await movements(platform, caller.partnerId as never)).toEqual([]);
  const credited = await finance.send(asked, { code: finance.code() });
  expect(credited.text).toContain("1,500.00 AUD is credited to acme");
  // The first form again: its key went through the question.
  expect((await finance.send(page, { amount: "1500.00" })).text).toContain("This form was sent before");
  expect(await movements(platform, caller.partnerId as never)).toHaveLength(1);
});

test("a request is cancelled after its consequence was shown", async () => {
  const { platform, reference } = await withRequest();
  const finance = await person(platform, { role: "finance" });
  const page = await finance.get(`/console/money/funding/${reference}`);
  const shown = await finance.send(page, {}, "/cancel");
  expect(shown.text).toContain("The request for 1,500.00 AUD ends without money");
  expect((await finance.get(page.path)).text).toContain("requested");
  const done = await finance.send(shown, {}, "/cancel");
  expect([done.path, done.text]).toEqual([page.path, expect.stringContaining(`${reference} is cancelled`)]);
  expect((await finance.get("/console/money?status=requested")).text).toContain("No payment is requested");
});

test("bank details are shown to partners once they are set", async () => {
  const { platform } = await withRequest();
  const finance = await person(platform, { role: "finance" });
  const saved = await finance.send(await finance.get("/console/money"), { bank_details: "Acme Bank\r\nBSB 000-000" });
  expect(saved.text).toContain("The bank details are saved.");
  const owner = await person(platform, { partner: "acme", role: "owner" });
  expect((await owner.get("/portal/wallet")).html).toContain("Acme Bank\nBSB 000-000");
  const removed = await finance.send(await finance.get("/console/money"), { bank_details: "" });
  expect(removed.text).toContain("The bank details are removed.");
});

test("the ledger is listed by partner and currency, as CSV too, and Check says that all balances agree", async () => {
  const { platform, caller } = await withRequest();
  const other = await platform.caller({ slug: "beta" });
  await platform.fund(caller.partnerId, 1_000);
  await platform.fund(other.partnerId, 2_000);
  await platform.fund(other.partnerId, 5_000, "EUR");
  const finance = await person(platform, { role: "finance" });
  const rows = async (query: string) => {
    const { html } = await finance.get(`/console/money/ledger?format=csv${query}`);
    const lines = html.trim().split("\n").slice(1);
    return lines.map((line) => line.split(",").slice(1, 5).join(" "));
  };
  expect(await rows("")).toEqual(["beta credit 50.00 EUR", "beta credit 20.00 AUD", "acme credit 10.00 AUD"]);
  expect(await rows("&partner=beta")).toEqual(["beta credit 50.00 EUR", "beta credit 20.00 AUD"]);
  expect(await rows("&currency=aud")).toEqual(["beta credit 20.00 AUD", "acme credit 10.00 AUD"]);
  expect(await rows("&partner=beta&currency=EUR")).toEqual(["beta credit 50.00 EUR"]);
  expect(await rows("&partner=nosuch")).toEqual([]);
  expect((await finance.get("/console/money/ledger?currency=NOPE")).status).toBe(400);
  const check = await finance.get("/console/money/check");
  expect(check.text).toContain("The ledger and all balances agree.");
  expect((await finance.get("/console/money?format=csv")).html.split("\n")[1]).toMatch(/^FND-\w{8},acme,1500.00,AUD,/);
});

test("what an order moved leads to it by its number", async () => {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  const { EU5 = "" } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 700 }]);
  await addStock(platform.store, "EU5", 1);
  await platform.fund(caller.partnerId, 1_000);
  const { body: order } = await create(caller, lines([EU5, 1]));
  const finance = await person(platform, { role: "finance" });
  for (const query of ["", "?partner=acme", "?currency=AUD", "?partner=acme&currency=AUD"]) {
    const { page } = await finance.get(`/console/money/ledger${query}`);
    const link = page.querySelector('td[data-title="Order"] a');
    expect([link?.text, link?.getAttribute("href")]).toEqual([order.order_number, `/console/orders/${order.id}`]);
  }
});

test("long lists go on by their cursor", async () => {
  const { platform, caller } = await withRequest();
  for (let count = 0; count < 51; count++) {
    platform.clock.advance(1_000);
    await platform.fund(caller.partnerId, 100 + count);
  }
  const finance = await person(platform, { role: "finance" });
  for (const query of ["", "?partner=acme"]) {
    const page = await finance.get(`/console/money/ledger${query}`);
    const next = page.page.querySelector('a[rel="next"]')?.getAttribute("href") ?? "";
    const rest = await finance.get(next);
    expect(rest.page.querySelectorAll("tbody tr")).toHaveLength(1);
    expect(rest.text).toContain("1.00 AUD");
  }
});

test("who may see money and who may move it is what the roles say", async () => {
  const { platform, caller, reference } = await withRequest();
  const see = { admin: 200, finance: 200, viewer: 200, support: 403 } as const;
  for (const [role, status] of Object.entries(see)) {
    const one = await person(platform, { role: role as keyof typeof see });
    for (const path of ["", "/ledger", "/check", `/funding/${reference}`]) {
      expect((await one.get(`/console/money${path}`)).status, `${role} ${path}`).toBe(status);
    }
    expect((await one.get("/console/money")).page.querySelector('[name="amount"]') !== null).toBe(
      role === "admin" || role === "finance",
    );
    if (role !== "viewer" && role !== "support") continue;
    const csrf = (await one.get("/console")).page.querySelector('[name="_csrf"]')?.getAttribute("value") ?? "";
    const typed = { _csrf: csrf, reference, amount: "1500.00", key: "0123456789abcdef", bank_details: "x" };
    for (const path of ["credit", "bank-details", `funding/${reference}/cancel`]) {
      const refused = await one.post(`/console/money/${path}`, typed, { origin: new URL(platform.url).origin });
      expect(refused.status, `${role} ${path}`).toBe(403);
    }
  }
  const finance = await person(platform, { role: "finance" });
  expect((await finance.get("/console/money/funding/FND-NOSUCH00")).status).toBe(404);
  expect(await movements(platform, caller.partnerId as never)).toEqual([]);
});

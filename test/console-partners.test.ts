import { expect, test } from "vitest";
import { auditOfPartner } from "../src/core/audit/list.ts";
import { recordAudit } from "../src/core/audit/record.ts";
import { listTransactions } from "../src/core/wallet/transactions.ts";
import { addProducts } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import type { Caller, Platform } from "./support/platform.ts";

async function withPartner() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  return { platform, caller };
}

async function movements({ store }: Platform, { partnerId }: Caller) {
  const { data } = await store.read(listTransactions, { partnerId, limit: 10 });
  return data.map(({ kind, amount_cents, reference }) => [kind, amount_cents, reference]);
}

async function lastActs({ store }: Platform, { partnerId }: Pick<Caller, "partnerId">, limit = 1) {
  const lines = await store.read(auditOfPartner, { partnerId, limit });
  return lines.map(({ action, actor }) => `${action} ${actor}`);
}

test("partners are listed by slug, name and status, and as CSV, and an admin creates one", async () => {
  const { platform } = await withPartner();
  const admin = await person(platform, { role: "admin" });
  const page = await admin.get("/console/partners");
  const bad = await admin.send(page, { slug: "Not A Slug", name: "Beta" });
  expect([bad.status, bad.text]).toEqual([400, expect.stringContaining("lower-case letters")]);
  const made = await admin.send(page, { slug: "beta", name: "Beta Travel", tier: "premium", agent: "yes" });
  expect([made.status, made.path]).toEqual([200, "/console/partners/beta"]);
  expect(made.text).toContain("premium, 300 requests a minute");
  const twice = await admin.send(page, { slug: "beta", name: "Beta Travel" });
  expect([twice.status, twice.text]).toEqual([409, expect.stringContaining("exists already")]);
  const slugs = async (query: string) => {
    const { html } = await admin.get(`/console/partners?format=csv${query}`);
    return html
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(",")[0]);
  };
  expect(await slugs("")).toEqual(["acme", "beta"]);
  expect(await slugs("&text=travel")).toEqual(["beta"]);
  expect(await slugs("&text=ACM&status=active")).toEqual(["acme"]);
  expect(await slugs("&status=suspended")).toEqual([]);
  expect((await admin.get("/console/partners/nosuch")).status).toBe(404);
});

test("long lists of partners go on where the page before ended", async () => {
  const { platform } = await withPartner();
  for (let count = 10; count < 60; count++) await platform.caller({ slug: `p-${count}` });
  const viewer = await person(platform, { role: "viewer" });
  const page = await viewer.get("/console/partners");
  const next = await viewer.get(page.page.querySelector('a[rel="next"]')?.getAttribute("href") ?? "");
  expect(next.page.querySelectorAll("tbody tr").map((row) => row.querySelector("a")?.textContent)).toEqual(["p-59"]);
});

test("a wallet is credited and debited after what comes of it was shown, once by each form", async () => {
  const { platform, caller } = await withPartner();
  const finance = await person(platform, { role: "finance" });
  const page = await finance.get("/console/partners/acme");
  const typed = { kind: "credit", amount: "1500.00", currency: "aud", reference: "BANK-1" };
  const shown = await finance.send(page, typed);
  expect(shown.text).toContain("Balance after it1,500.00 AUD");
  expect(await movements(platform, caller)).toEqual([]);
  for (let sent = 0; sent < 2; sent++) {
    const done = await finance.send(shown, {}, "/wallet");
    expect([done.status, done.path]).toEqual([200, "/console/partners/acme/wallet"]);
    expect(done.text).toContain(sent === 0 ? "is credited with 1,500.00 AUD" : "This form was sent before");
  }
  expect((await finance.send(page, typed)).text).toContain("This form was sent before");
  expect(await movements(platform, caller)).toEqual([["credit", 150_000, "BANK-1"]]);
  expect(await lastActs(platform, caller)).toEqual([`wallet.credit user:${finance.id}`]);
  expect((await finance.get("/console/partners/acme")).text).toMatch(/wallet\.credit \S+ by Pat finance: 1500\.00 AUD/);
  const wallet = await finance.get("/console/partners/acme/wallet");
  const known = await finance.send(wallet, typed);
  expect([known.status, known.text]).toEqual([409, expect.stringContaining("BANK-1 was credited before")]);
  const much = await finance.send(wallet, { kind: "debit", amount: "1500.01", currency: "AUD" });
  expect(much.status).toBe(402);
  const odd = await finance.send(wallet, { kind: "credit", amount: "1,5", currency: "AUD" });
  expect([odd.status, odd.text]).toEqual([400, expect.stringContaining("must be a plain decimal")]);
  await finance.send(await finance.send(wallet, { kind: "debit", amount: "500", currency: "AUD" }), {}, "/wallet");
  const csv = await finance.get("/console/partners/acme/wallet?format=csv");
  expect(csv.html.split("\n")[1]).toMatch(/,debit,-500.00,AUD,1000.00,/);
});

test("ten minutes later the second factor is asked for before money moves, and the form goes on", async () => {
  const { platform, caller } = await withPartner();
  const finance = await person(platform, { role: "finance" });
  const page = await finance.get("/console/partners/acme/wallet");
  const typed = { kind: "credit", amount: "10.00", currency: "AUD", reference: "BANK-2" };
  platform.clock.advance(10 * 60_000);
  const asked = await finance.send(page, typed);
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("Confirm that it is you")]);
  const shown = await finance.send(asked, { code: finance.code() });
  expect(shown.text).toContain("Balance after it10.00 AUD");
  platform.clock.advance(10 * 60_000);
  const again = await finance.send(shown, {}, "/wallet");
  expect(again.status).toBe(403);
  expect((await finance.send(again, { code: "000000" })).text).toContain("Confirm that it is you");
  expect(await movements(platform, caller)).toEqual([]);
  const done = await finance.send(again, { code: finance.code() });
  expect(done.text).toContain("is credited with 10.00 AUD");
  expect(await movements(platform, caller)).toHaveLength(1);
});

test("suspending shows what comes of it, then signs the partner's people out at once", async () => {
  const { platform, caller } = await withPartner();
  await platform.fund(caller.partnerId, 1_000);
  const { EMPTY } = await addProducts(platform.store, [{ sku: "EMPTY", price_cents: 1 }]);
  const body = { line_items: [{ product_id: EMPTY, quantity: 1 }] };
  expect((await caller.send("POST", "/api/v1/orders", body, { "idempotency-key": "one" })).status).toBe(201);
  const admin = await person(platform, { role: "admin" });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const page = await admin.get("/console/partners/acme");
  const shown = await admin.send(page, { reason: "unpaid since May" });
  expect(shown.text).toContain("Reason: unpaid since May");
  expect(shown.text).toContain("Signed out at once: 1 of its people");
  expect(shown.text).toContain("1 open order and 0 open activations");
  expect((await owner.get("/portal")).status).toBe(200);
  const done = await admin.send(shown, {}, "/suspend");
  expect(done.text).toContain("acme is suspended");
  expect(done.text).toContain("Reasonunpaid since May");
  // A colleague's pages from before.
  for (const late of [await admin.send(page, { reason: "fraud" }), await admin.send(shown, {}, "/suspend")]) {
    const words = /acme is suspended already, since \d+ \w+ 2026, [\d:]+: unpaid since May\./;
    expect([late.status, late.text]).toEqual([409, expect.stringMatching(words)]);
  }
  expect((await owner.get("/portal")).path).toMatch(/^\/portal\/sign-in/);
  expect((await caller.get("/api/v1/balance")).status).toBe(403);
  expect(await lastActs(platform, caller)).toEqual([`partners.suspend user:${admin.id}`]);
  expect((await admin.get("/console/partners/acme")).text).toContain("partners.suspend by Pat admin");
  const resumed = await admin.send(await admin.send(done, {}, "/resume"), {}, "/resume");
  expect(resumed.text).toContain("acme has its access back");
  expect((await caller.get("/api/v1/balance")).status).toBe(200);
});

test("a history that is cut says so, and where all of it is", async () => {
  const { platform, caller } = await withPartner();
  const finance = await person(platform, { role: "finance" });
  const admin = await person(platform, { role: "admin" });
  expect((await admin.get("/console/partners/acme")).text).not.toContain("newest 50");
  for (let count = 0; count < 50; count++) {
    const line = { actor: "test", action: "partners.update", targetKind: "partner", targetId: caller.partnerId };
    await platform.store.write(recordAudit, { ...line, partnerId: caller.partnerId });
  }
  const page = await admin.get("/console/partners/acme");
  expect(page.text).toContain("These are the newest 50 lines. The audit trail has all of them.");
  const whole = await admin.get("/console/platform/audit?partner=acme");
  expect(page.page.querySelector(`main a[href$="${whole.path}"]`)).not.toBeNull();
  const other = await finance.get("/console/partners/acme");
  expect([other.text.includes("newest 50 lines."), other.html.includes(whole.path)]).toEqual([true, false]);
});

test("support looks at a partner's portal, reading only, and the audit trail has it", async () => {
  const { platform, caller } = await withPartner();
  const support = await person(platform, { role: "support" });
  const portal = await support.send(await support.get("/console/partners/acme"), {}, "/view-as");
  expect([portal.status, portal.path]).toEqual([200, "/portal"]);
  expect(portal.html).toContain("Looking at this partner as staff");
  expect(await lastActs(platform, caller)).toEqual([`users.view_as user:${support.id}`]);
  expect((await support.send(portal, {}, "/view-as/end")).path).toBe("/console/partners");
});

test("who may see and change partners is what the roles say", async () => {
  const { platform, caller } = await withPartner();
  await platform.fund(caller.partnerId, 77_700);
  const acts = ["wallet", "suspend", "resume", "view-as"] as const;
  const may = {
    admin: ["wallet", "suspend", "view-as"],
    finance: ["wallet"],
    support: ["view-as"],
    viewer: [],
  } as const;
  for (const [role, allowed] of Object.entries(may)) {
    const one = await person(platform, { role: role as keyof typeof may });
    const page = await one.get("/console/partners/acme");
    expect(page.status).toBe(200);
    expect(page.text.includes("777.00 AUD"), role).toBe(role !== "support");
    const forms = page.page.querySelectorAll("main form").map((form) => form.getAttribute("action")?.split("/").at(-1));
    expect(forms.sort(), role).toEqual([...allowed].sort());
    expect((await one.get("/console/partners/acme/wallet")).status, role).toBe(role === "support" ? 403 : 200);
    for (const act of acts.filter((name) => name !== "resume" && !(allowed as readonly string[]).includes(name))) {
      const refused = await one.post(`/console/partners/acme/${act}`, {}, { origin: new URL(platform.url).origin });
      expect(refused.status, `${role} ${act}`).toBe(403);
    }
  }
  const owner = await person(platform, { partner: "acme", role: "owner" });
  expect((await owner.get("/console/partners/acme")).status).toBe(403);
});

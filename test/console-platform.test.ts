import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { recordAudit } from "../src/core/audit/record.ts";
import { suspendPartner } from "../src/core/partners/suspend.ts";
import { recordFailure } from "../src/core/platform/outages.ts";
import { currentPauses } from "../src/core/platform/pauses.ts";
import { pauseSupplier } from "../src/core/suppliers/pause.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { keepBalance } from "../src/core/supply/balance.ts";
import { person, startPages } from "./support/pages.ts";
import type { Platform } from "./support/platform.ts";
import { onPostgres } from "./support/store.ts";

async function paused({ store }: Platform) {
  const settings = { adapter: "email", to: "orders@kestrel.example" } as const;
  await store.write(setSupplier, { name: "kestrel", settings, actor: "test" });
  await store.write(pauseSupplier, { name: "kestrel", reason: "no stock", actor: "test" });
}

test("a viewer sees how the platform does, and what doctor finds of it", async () => {
  const platform = await startPages();
  await paused(platform);
  const viewer = await person(platform, { role: "viewer" });
  const seen = await viewer.get("/console/platform");
  expect([seen.status, seen.text]).toEqual([200, expect.stringContaining("supplier kestrelno stock")]);
  expect(seen.text).toContain("orders due");
  expect(seen.page.querySelector('main a[href$="/users"]')).toBeNull();
  const doctor = await viewer.get("/console/platform/doctor");
  expect(doctor.text).toContain("New orders of the supplier kestrel are paused");
  expect(doctor.text).toContain("What only the terminal checks");
  const admin = await person(platform, { role: "admin" });
  expect((await admin.get("/console/platform")).page.querySelector('main a[href$="/users"]')).not.toBeNull();
  for (const role of ["support", "finance"] as const) {
    const other = await person(platform, { role });
    for (const path of ["", "/doctor", "/audit", "/logs"]) {
      expect((await other.get(`/console/platform${path}`)).status).toBe(403);
    }
  }
});

test("the audit trail is narrowed by partner, actor, action and target, and goes into CSV", async () => {
  const platform = await startPages();
  const { store } = platform;
  await platform.caller({ slug: "acme" });
  await platform.caller({ slug: "other" });
  await paused(platform);
  await store.write(suspendPartner, { slug: "acme", reason: "late", actor: "operator (root)" });
  const viewer = await person(platform, { role: "viewer" });
  const lines = async (query: string) => {
    const { html, status } = await viewer.get(`/console/platform/audit?format=csv&${query}`);
    expect(status).toBe(200);
    return html.trim().split("\n").slice(1);
  };
  const all = await lines("");
  expect((await lines("partner=acme")).length).toBeLessThan(all.length);
  expect(await lines("partner=acme&actor=operator")).toEqual([expect.stringContaining("partners.suspend")]);
  expect(await lines("action=suppliers.")).toHaveLength(2);
  expect(await lines("target=kestrel&action=suppliers.pause")).toEqual([expect.stringContaining("no stock")]);
  expect(await lines("target=acme&partner=other")).toEqual([]);
  expect(await lines("partner=none")).toEqual([]);
  expect(await lines("since=2030-01-01")).toEqual([]);
  expect((await lines("since=2026-03-02&until=2026-03-02")).length).toBe(all.length);
  expect((await viewer.get("/console/platform/audit?cursor=bad")).status).toBe(400);
});

test("a long trail is read page by page, whatever it is narrowed by", async () => {
  const platform = await startPages();
  const { store } = platform;
  const viewer = await person(platform, { role: "viewer" });
  await paused(platform);
  for (let at = 0; at < 60; at += 1) {
    await store.write(pauseSupplier, { name: "kestrel", reason: `reason ${at}`, actor: "test" });
  }
  for (const query of ["", "&target=kestrel", "&action=suppliers.pause"]) {
    const first = await viewer.get(`/console/platform/audit?actor=test${query}`);
    expect(first.text).toContain("reason 59");
    const next = first.page.querySelector('a[rel="next"]')?.getAttribute("href") ?? "";
    const second = await viewer.get(next);
    expect(second.text).toContain("reason 0");
    expect(second.text).not.toContain("reason 59");
  }
});

test("the chains are verified by a button, which says where one was changed", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const viewer = await person(platform, { role: "viewer" });
  const form = await viewer.get("/console/platform/audit");
  expect((await viewer.send(form, {}, "/verify")).text).toContain("The audit trail and the ledger are as written");
  await platform.store.write(async (tx) => {
    const statement = sql.raw("UPDATE chain_heads SET chain_count = chain_count - 1");
    await Reflect.get(tx.db, onPostgres ? "execute" : "run").call(tx.db, statement);
  }, null);
  const found = await viewer.send(form, {}, "/verify");
  expect(found.text).toContain("was changed");
  expect(found.text).toContain("audit:platform: 1 row more than its head counts");
});

test("a verification covers every row on one snapshot, while others read and write", async () => {
  const platform = await startPages();
  const { store } = platform;
  await store.write(async (tx) => {
    const entry = { actor: "test", action: "test.count", partnerId: null, targetKind: "test" } as const;
    for (let at = 0; at < 1_200; at++) await recordAudit(tx, { ...entry, targetId: String(at) });
  }, null);
  await platform.caller({ slug: "acme" });
  const viewer = await person(platform, { role: "viewer" });
  const form = await viewer.get("/console/platform/audit");
  const verify = (headers = {}) => viewer.send(form, {}, "/verify", headers);
  const [first, page] = await Promise.all([
    verify({ accept: "application/x-ndjson" }),
    viewer.get("/console/platform/audit"),
    store.write(suspendPartner, { slug: "acme", reason: "late", actor: "test" }),
  ]);
  expect(page.status).toBe(200);
  const [, ...lines] = first.html.trim().split("\n").toReversed();
  expect(lines.length).toBeGreaterThan(1);
  const last: { done: number; total: number } = JSON.parse(lines[0] ?? "");
  expect([last.done, last.total]).toEqual([last.total, expect.any(Number)]);
  expect(first.html).toContain(`The audit trail and the ledger are as written: ${last.total} rows`);
  const after = await verify();
  const [, rows] = /All (\d+) rows .* were read.* 2026, \d\d:\d\d; it took/.exec(after.text) ?? [];
  expect(Number(rows)).toBeGreaterThanOrEqual(last.total);
});

test("a request is looked up by its id, in what it changed", async () => {
  const platform = await startPages();
  await paused(platform);
  const admin = await person(platform, { role: "admin" });
  const invited = await admin.send(await admin.get("/console/users"), { email: "kim@example.com", role: "viewer" });
  const id = invited.headers.get("x-request-id") ?? "";
  const found = await admin.get(`/console/platform/logs?request_id=${id}`);
  expect(found.text).toContain("users.invite");
  const none = await admin.get("/console/platform/logs?request_id=kestrel");
  expect([none.status, none.text]).toEqual([200, expect.stringContaining("Nothing is recorded")]);
});

test("suppliers and carriers show how they do; an admin pauses and resumes a supplier", async () => {
  const platform = await startPages();
  const { store } = platform;
  const settings = { adapter: "email", to: "orders@kestrel.example" } as const;
  await store.write(setSupplier, { name: "kestrel", settings, actor: "test" });
  await store.write(recordFailure, { kind: "supplier", name: "kestrel", error: "no answer in 10 s" });
  await store.write(recordFailure, { kind: "carrier", name: "896103", error: "status 503" });
  const support = await person(platform, { role: "support" });
  const listed = await support.get("/console/suppliers");
  expect(listed.text).toMatch(/kestrelemailorders@kestrel\.examplefailing.*no answer in 10 s/);
  expect((await support.get("/console/carriers?format=csv")).html).toContain("896103");
  expect((await support.get("/console/carriers/896103")).text).toContain("status 503");
  const seen = await support.get("/console/suppliers/kestrel");
  expect([seen.status, seen.page.querySelector('[name="reason"]')]).toEqual([200, null]);
  const provider = { adapter: "esimgo", secret: "an-api-key" } as const;
  await store.write(setSupplier, { name: "go", settings: provider, actor: "test" });
  await store.write(keepBalance, { supplier: "go", currency: "USD", balance: 120_000 });
  const account = await support.get("/console/suppliers/go");
  expect(account.text).toMatch(/Circuitopen: balance low.*Balance12\.0000 USD/);
  // Its callback path is a secret.
  expect(account.html).not.toContain("/callbacks/");
  expect((await support.get("/console/suppliers")).text).toMatch(/goesimgo.*failing.*open/);
  expect((await support.get("/console/suppliers/none")).status).toBe(404);
  expect((await support.get("/console/carriers/none")).status).toBe(404);
  const csrf = seen.page.querySelector('[name="_csrf"]')?.getAttribute("value") ?? "";
  const posted = { _csrf: csrf, reason: "down" };
  const forbidden = await support.post("/console/suppliers/kestrel/pause", posted, { origin: platform.url });
  expect(forbidden.status).toBe(403);
  const finance = await person(platform, { role: "finance" });
  expect((await finance.get("/console/suppliers")).status).toBe(403);
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/suppliers/kestrel");
  const refused = await admin.send(form, { reason: "x".repeat(201) });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("1 to 200 characters")]);
  const paused = await admin.send(form, { reason: "down for a day" });
  expect(paused.text).toContain("New orders of kestrel are refused.");
  expect(await store.read(currentPauses, null)).toMatchObject([{ name: "kestrel", reason: "down for a day" }]);
  const resumed = await admin.send(paused, {}, "/resume");
  expect(resumed.text).toContain("New orders of kestrel are accepted.");
  expect(resumed.text).toContain("Pat admin: suppliers.resume");
  expect(await store.read(currentPauses, null)).toEqual([]);
});

import { expect, test } from "vitest";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { addProducts } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { supplierDesk } from "./support/supplier-desk.ts";
import type { Seen } from "./support/visitor.ts";

/** What the script of a page asks for. */
const scripted = { accept: "application/x-ndjson" };

/** What it is sent: how far the act is, and then what it came to. */
function linesOf({ headers, html }: Seen) {
  expect(headers.get("content-type")).toBe("application/x-ndjson");
  const lines: Record<string, unknown>[] = html
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { said: lines.slice(0, -1), end: lines.at(-1) ?? {} };
}

const isFollowed = ({ page }: Seen, to: string) =>
  page.querySelectorAll("form[data-progress]").some((form) => form.getAttribute("action")?.endsWith(to));

/** A file with so many rows, the cells of each by its number. */
function file(head: string, rows: number, cells: (row: number) => string): Blob {
  return new Blob([[head, ...Array.from({ length: rows }, (_, row) => cells(row))].join("\n")]);
}

test("an import says how far it is where a script listens, and answers with its page", async () => {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "agency", live: true, agent: true });
  const agent = await person(platform, { partner: "agency", role: "agent" });
  const head = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";
  const passports = file(head, 1_200, (row) => `A,B${row},1970-01-01,P${1_000_000 + row},GBR,2034-01-01`);
  const start = await agent.get("/portal/passports/import");
  expect(isFollowed(start, "/passports/import")).toBe(true);
  const preview = await agent.send(start, { file: passports }, undefined, scripted);
  // Nothing took long: the page itself is the answer.
  expect([preview.status, preview.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(isFollowed(preview, "/passports/import")).toBe(true);
  const done = linesOf(await agent.send(preview, { step: "import" }, "/passports/import", scripted));
  expect(done.said).toEqual([500, 1_000, 1_200].map((rows) => ({ done: rows, total: 1_200 })));
  expect(done.end.html).toContain("1200 passports added");
  expect(done.end.html).toContain(`<main id="main"`);
  expect((await caller.get("/api/v1/kyc/passports?limit=1")).body.pagination.has_more).toBe(true);
  const again = await agent.send(preview, { step: "import" }, "/passports/import");
  expect([again.status, again.text]).toEqual([200, expect.stringContaining("There already: 1200")]);
});

test("where it leads to another page, that and its notice are the last line", async () => {
  const platform = await startPages();
  await addProducts(platform.store, [{ sku: "EU5" }]);
  const admin = await person(platform, { role: "admin" });
  const stock = file("iccid,smdp_address,matching_id", 600, (row) => {
    const digits = `894410${String(row).padStart(12, "0")}`;
    return `${digits}${luhnDigit(digits)},smdp.example.net,M-${row}`;
  });
  const form = await admin.get("/console/stock/import");
  const previewed = linesOf(await admin.send(form, { file: stock, sku: "EU5" }, "/import", scripted));
  expect(previewed.said).toEqual([500, 600].map((rows) => ({ done: rows, total: 600 })));
  expect(previewed.end.html).toContain("600 eSIMs would be added");
  const preview = await admin.send(form, { file: stock, sku: "EU5" }, "/import");
  expect(isFollowed(preview, "/stock/import")).toBe(true);
  const done = linesOf(await admin.send(preview, {}, "/stock/import", scripted));
  expect(done.end).toEqual({ to: "/console/stock", notice: "600 eSIMs added to EU5; 0 were there." });
  const second = await admin.send(preview, {}, "/stock/import");
  expect([second.path, second.text]).toEqual(["/console/stock", expect.stringContaining("600 were there")]);
});

test("a sync says that it waits for its provider, then how many products are written", async () => {
  const { platform, provider, list } = await supplierDesk({ pages: true });
  list(([plan]) =>
    Array.from({ length: 120 }, (_, nth) => ({ ...plan, packageCode: `P${nth}`, slug: `JP_1_7_${nth}` })),
  );
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/suppliers/ea/sync");
  expect(isFollowed(form, "/ea/sync")).toBe(true);
  const typed = { markup: "35", prefix: "EA-" };
  const previewed = linesOf(await admin.send(form, typed, "/ea/sync", scripted));
  expect(previewed.said).toEqual([{ waits: true }]);
  expect(previewed.end.html).toContain("120 plans read: 120 added");
  const preview = await admin.send(form, typed, "/ea/sync");
  expect(isFollowed(preview, "/ea/sync")).toBe(true);
  const done = linesOf(await admin.send(preview, {}, "/ea/sync", scripted));
  expect(done.said).toEqual([{ waits: true }, ...[0, 50, 100].map((written) => ({ done: written, total: 120 }))]);
  expect(done.end).toMatchObject({ to: "/console/suppliers/ea", notice: expect.stringContaining("120 added") });
  // Sent twice, nothing is there twice.
  expect((await admin.send(preview, {}, "/ea/sync")).text).toContain("0 added, 0 updated, 120 unchanged");
  await provider.close();
  const refused = linesOf(await admin.send(form, typed, "/ea/sync", scripted));
  expect([refused.said, refused.end.html]).toEqual([[{ waits: true }], expect.stringContaining("cannot be reached")]);
});

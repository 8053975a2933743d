import { expect, test } from "vitest";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";

function iccid(no: number): string {
  const digits = `894420${String(no).padStart(12, "0")}`;
  return digits + luhnDigit(digits);
}

function file(...rows: string[]): Blob {
  return new Blob([`iccid,smdp_address,matching_id\n${rows.join("\n")}\n`]);
}

test("stock levels are listed, and the low ones of products on sale", async () => {
  const platform = await startPages();
  await addProducts(platform.store, [{ sku: "EU-1" }, { sku: "EU-2" }, { sku: "JP-1", status: "inactive" }]);
  await addStock(platform.store, "EU-1", 12);
  for (const role of ["viewer", "support", "finance"] as const) {
    const one = await person(platform, { role });
    const seen = await one.get("/console/stock");
    expect([seen.status, seen.page.querySelectorAll("tbody tr").length]).toEqual([200, 3]);
    expect(seen.page.querySelector('a[href$="/stock/import"]')).toBeNull();
    expect((await one.get("/console/stock/import")).status).toBe(403);
  }
  const admin = await person(platform, { role: "admin" });
  expect((await admin.get("/console/stock?below=10")).text).toMatch(/EU-2/);
  expect((await admin.get("/console/stock?below=10")).text).not.toMatch(/EU-1|JP-1/);
  expect((await admin.get("/console/stock?sku=jp&format=csv")).html).toContain("JP-1,Plan JP-1,inactive,0");
});

test("eSIMs are imported from a file after a preview, which shows no code; a second import adds none", async () => {
  const platform = await startPages();
  await addProducts(platform.store, [
    { sku: "EU-1" },
    { sku: "MAIL", product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/stock/import?sku=EU-1");
  const sent = file(
    `${iccid(1)},smdp.example.net,MATCH-1`,
    `${iccid(2)},smdp.example.net,MATCH-2`,
    `${iccid(2)},smdp.example.net,MATCH-2`,
    `${iccid(3)},smdp.example.net,MATCH-3`,
    `${iccid(4)},smdp.example.net,MATCH-3`,
    `${iccid(5)},smdp.example.net,MATCH-5`,
    `${iccid(5)},smdp.example.net,MATCH-6`,
    `${iccid(7).slice(0, -1)}x,smdp.example.net,MATCH-7`,
  );
  const preview = await admin.send(form, { file: sent });
  expect(preview.text).toContain("2 eSIMs would be added to the stock of EU-1; 0 are there already");
  expect(preview.text).toContain("the code is that of several ICCIDs, on lines 5, 6");
  expect(preview.text).toContain("iccid has different codes on lines 7, 8");
  expect(preview.text).not.toContain("MATCH-");
  expect((await admin.get("/console/stock?below=1")).text).toContain("EU-1");
  const done = await admin.send(preview, {}, "/stock/import");
  expect(done.text).toContain("2 eSIMs added to EU-1; 0 were there. 5 rows left out.");
  expect((await admin.get("/console/stock?format=csv&sku=EU-1")).html).toContain("EU-1,Plan EU-1,active,2");
  const again = await admin.send(form, { file: sent });
  expect(again.text).toContain("No eSIM would be added");
  const other = file(`${iccid(1)},smdp.example.net,OTHER-1`, `${iccid(9)},smdp.example.net,MATCH-9`);
  expect((await admin.send(form, { file: other })).text).toContain("2iccid is in stock with another matching_id");
  const unknown = await admin.send(form, { sku: "NONE", file: sent });
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining("names no product: NONE")]);
  const mailed = await admin.send(form, { sku: "MAIL", file: sent });
  expect([mailed.status, mailed.text]).toEqual([409, expect.stringContaining("not from stock")]);
});

test("a wrong check digit passes where the form says so", async () => {
  const platform = await startPages();
  await addProducts(platform.store, [{ sku: "EU-1" }]);
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/stock/import?sku=EU-1");
  const wrong = `${iccid(1).slice(0, -1)}${(Number(iccid(1).at(-1)) + 1) % 10}`;
  const refused = await admin.send(form, { file: file(`${wrong},smdp.example.net,MATCH-1`) });
  expect(refused.text).toContain("wrong check digit (the form can let it pass)");
  const preview = await admin.send(form, { file: file(`${wrong},smdp.example.net,MATCH-1`), any_digit: "yes" });
  expect((await admin.send(preview, {}, "/stock/import")).text).toContain("1 eSIM added");
});

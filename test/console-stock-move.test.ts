import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";

test("eSIMs are moved to another product, once it was shown what both have then", async () => {
  const platform = await startPages();
  const { ONE } = await addProducts(platform.store, [{ sku: "ONE" }, { sku: "TWO" }]);
  await addStock(platform.store, "ONE", 5);
  const admin = await person(platform, { role: "admin" });
  const stock = async () => (await admin.get("/console/stock?format=csv")).html;
  expect((await admin.get("/console/stock")).text).toContain("Move to another product");
  const form = await admin.get("/console/stock/move?sku=ONE");
  const [from] = form.page.querySelectorAll('input[name="from"]');
  expect(from?.getAttribute("value")).toBe("ONE");
  for (const [typed, status, words] of [
    [{ to: "TWO", count: "6" }, 409, "ONE has 5 free eSIMs, fewer than 6."],
    [{ to: "ONE", count: "1" }, 400, "must be another product"],
    [{ to: "NONE", count: "1" }, 404, "No such product: NONE"],
    [{ to: "TWO", count: "some" }, 400, "must be a whole number"],
  ] as const) {
    const refused = await admin.send(form, typed);
    expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(words)]);
  }
  const shown = await admin.send(form, { to: "TWO", count: "2" });
  expect(shown.text).toContain("2 eSIMs of ONE become TWO. Then ONE has 3 free, and TWO has 2.");
  expect(await stock()).toContain("ONE,Plan ONE,active,5");
  const done = await admin.send(shown, {}, "/stock/move");
  expect([done.path, done.text]).toEqual(["/console/stock", expect.stringContaining("2 eSIMs moved to TWO.")]);
  expect(await stock()).toMatch(/ONE,Plan ONE,active,3\r?\nTWO,Plan TWO,active,2/);
  const [line] = await platform.store.read(listAudit, { target: ONE, limit: 1 });
  expect(line).toMatchObject({ action: "stock.move", actor: `user:${admin.id}`, note: "2 eSIMs ONE → TWO" });
  const support = await person(platform, { role: "support" });
  expect((await support.get("/console/stock/move")).status).toBe(403);
  expect((await support.get("/console/stock")).text).not.toContain("Move to another product");
});

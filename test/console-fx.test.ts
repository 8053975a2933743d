import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { changeProduct } from "../src/core/catalog/change.ts";
import { listRates } from "../src/core/prices/rates.ts";
import { addProducts } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { listed, rule } from "./support/price-lists.ts";

test("a rate is set for a day, once it was shown what it replaces, and prices by a markup follow it", async () => {
  const platform = await startPages({ start: "2026-03-02T12:00:00.000Z" });
  const { store } = platform;
  await addProducts(store, [{ sku: "EU5", price_cents: 1_000, region: "Europe" }]);
  const cost = { cost: 20_000, currency: "USD" };
  await store.write(changeProduct, { sku: "EU5", fields: null, rule: {}, cost, actor: "test" });
  await rule(store, "gold", { region: "Europe", markup: "50" });
  const caller = await platform.caller({ slug: "acme" });
  await listed(platform, "acme", "gold");
  const price = async () => (await caller.get("/api/v1/products")).body.data[0].price_cents;
  const finance = await person(platform, { role: "finance" });
  const page = await finance.get("/console/fx");
  expect(page.text).toContain("No rates yet.");
  expect(await price()).toBe(1_000);

  const usd = { from_currency: "usd", to_currency: "AUD" };
  const asked = await finance.send(page, { ...usd, rate: "1.52" });
  expect(asked.text).toContain("Rate1 USD = 1.52 AUDFrom2026-03-02Rate beforenone");
  expect(asked.text).toContain("prices by a markup follow it at midnight UTC");
  expect(await store.read(listRates, null)).toEqual([]);
  const done = await finance.send(asked, {}, "/fx");
  expect([done.path, done.text]).toEqual([
    "/console/fx",
    expect.stringContaining("1 USD = 1.52 AUD from 2026-03-02 on."),
  ]);
  expect(await price()).toBe(456);
  await finance.send(asked, {}, "/fx");
  expect(await store.read(listRates, null)).toEqual([
    { from_currency: "USD", to_currency: "AUD", rate: "1.52", from: "2026-03-02" },
  ]);
  const later = await finance.send(page, { ...usd, rate: "1.6", from: "2026-04-01" });
  expect(later.text).toContain("Rate before1 USD = 1.52 AUD, from 2026-03-02");
  await finance.send(later, {}, "/fx");
  expect(await price()).toBe(456);
  expect((await finance.get("/console/fx")).text).toMatch(/USD1\.6AUD2026-04-01.*USD1\.52AUD2026-03-02/);
  const [line] = await store.read(listAudit, { target: "USD AUD 2026-04-01", limit: 1 });
  expect(line).toMatchObject({ action: "fx.set", actor: `user:${finance.id}` });

  for (const [typed, words] of [
    [{ rate: "1.5x" }, "Rate must be a plain decimal above 0"],
    [{ rate: "0" }, "Rate must be a plain decimal above 0"],
    [{ from_currency: "MOON", rate: "1" }, "One unit of must be an ISO 4217 currency code"],
    [{ to_currency: "USD", rate: "1" }, "In currency must be another currency than USD"],
    [{ rate: "1", from: "2026-02-30" }, "From must be a real date as YYYY-MM-DD"],
  ] as const) {
    const refused = await finance.send(page, { ...usd, ...typed });
    const errors = refused.page.querySelectorAll(".field .error").map(({ text }) => text);
    expect([refused.status, errors]).toEqual([400, [expect.stringContaining(words)]]);
  }
});

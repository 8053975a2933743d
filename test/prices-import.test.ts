import { expect, test } from "vitest";
import { line, priceShop } from "./support/price-shop.ts";

test("a file is checked row by row, and what is good is set once", async () => {
  const { file, run, json } = await priceShop(line("EU5", "10.00"), line("EU6", "10.00"));
  await json("prices", "create", "gold");
  const path = file(
    "gold.csv",
    "SKU,Region,Price,Markup,Min quantity,From,To",
    "EU5,,3.10,,,,",
    "EU5,,2.90,,10,2026-12-01,2027-01-01",
    ",Europe,,35,,,",
    "NONE,,3.10,,,,",
    "EU6,,3.105,,,,",
    "EU6,,4,,,,",
    "EU6,,5,,1,,",
  );
  const dry = JSON.parse((await run("prices", "import", "gold", path, "--dry-run", "--json")).stdout);
  expect(dry).toMatchObject({ read: 7, imported: 0, rejected: 4 });
  expect((await json("prices", "show", "gold")).count).toBe(0);
  const ended = await run("prices", "import", "gold", path, "--json");
  expect([ended.exitCode, JSON.parse(ended.stdout)]).toMatchObject([3, { imported: 3, updated: 0, rejected: 4 }]);
  expect((await json("prices", "show", "gold")).data).toMatchObject([
    { sku: "EU5", price_cents: 310 },
    { sku: "EU5", price_cents: 290, min_quantity: 10 },
    { region: "Europe", markup: 35 },
  ]);
  const again = file("again.csv", "sku,price", "EU5,3.10", "EU6,7");
  expect(await json("prices", "import", "gold", again)).toMatchObject({ imported: 1, duplicates: 1, rejected: 0 });
  const changed = file("changed.csv", "sku,price", "EU6,8");
  expect(await json("prices", "import", "gold", changed)).toMatchObject({ updated: 1 });
  expect(await json("prices", "import", "silver", changed)).toMatchObject({ imported: 1 });
});

test("prices of a file that are below the cost are named, in a dry run and after it", async () => {
  const skus = Array.from({ length: 12 }, (_, at) => `P${String(at + 10)}`);
  const { file, run, json } = await priceShop(...skus.map((sku) => line(sku, "10.00")), line("EU5", "10.00"));
  for (const sku of [...skus, "EU5"]) {
    await json("products", "update", sku, "--cost", "2", "--cost-currency", "USD", "--yes");
  }
  await json("prices", "create", "gold");
  const one = file("one.csv", "sku,region,price,markup", "EU5,,3.03,", "P10,,3.04,", ",Europe,,0");
  const take = (...args: string[]) => run("prices", "import", "gold", ...args);
  // No rate is known, so nothing is.
  expect(await json("prices", "import", "gold", one, "--dry-run")).toMatchObject({ warnings: [], below_cost: [] });
  await json("fx", "set", "USD", "AUD", "1.52");
  const below = [{ sku: "EU5", price_cents: 303, currency: "AUD", cost: "2.0000", cost_currency: "USD" }];
  const found = {
    ...{ below_cost: below, rejected: 0 },
    warnings: [{ rows: 1, reason: "price is below the product's cost" }],
  };
  expect(await json("prices", "import", "gold", one, "--dry-run")).toMatchObject({ ...found, imported: 0 });
  const strict = await take(one, "--strict");
  expect([strict.exitCode, (await json("prices", "show", "gold")).count]).toEqual([1, 0]);
  expect(await json("prices", "import", "gold", one)).toMatchObject({ ...found, imported: 3 });
  const many = file("many.csv", "sku,price", ...skus.map((sku) => `${sku},1`));
  const { stdout } = await take(many, "--dry-run");
  expect(stdout).toContain("Look at 12 prices again, below the product's cost:");
  expect(stdout).toMatch(/P19 +1\.00 AUD +2\.0000 USD\n… and 2 more/);
});

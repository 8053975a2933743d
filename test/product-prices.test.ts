import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const HEAD = "sku,name,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method";
const line = (sku: string, price: string, megabytes = 1024) =>
  `${sku},${sku},Europe,FR,${megabytes},7,${price},AUD,data_only,esim_qr_pregen,stock`;

async function shop(...lines: string[]) {
  const data = await newData();
  const file = join(temporaryDirectory(), "plans.csv");
  const write = (...rows: string[]) => writeFileSync(file, [HEAD, ...rows].join("\n"));
  const imported = (...more: string[]) => esimctl(["products", "import", file, "--data", data, ...more]);
  write(...lines);
  expect(await imported()).toMatchObject({ exitCode: 0 });
  const priceOf = async (sku: string) =>
    Number(Object(await esimctlJson(["products", "show", sku, "--data", data])).price_cents);
  return { data, file, write, imported, priceOf };
}

test("an import shows the prices that change, and within the bounds asks nothing", async () => {
  const { write, imported, priceOf } = await shop(line("A", "10.00"), line("B", "20.00"));
  write(line("A", "12.00"), line("B", "20.00"));
  const foreseen = await imported("--dry-run", "--json");
  expect(JSON.parse(foreseen.stdout).price_changes).toEqual([
    { sku: "A", from_cents: 1000, from_currency: "AUD", to_cents: 1200, currency: "AUD", percent: 20, doubts: [] },
  ]);
  expect(await priceOf("A")).toBe(1000);
  const done = await imported();
  expect(done.exitCode).toBe(0);
  expect(done.stderr).toMatch(/A +10\.00 AUD +12\.00 AUD +\+20/);
  expect(done.stderr).not.toMatch(/^B/m);
  expect(await priceOf("A")).toBe(1200);
});

test("a doubtful price writes nothing without --yes, and says why it is doubtful", async () => {
  const known = ["A", "B", "C", "D"].map((sku) => line(sku, "10.00"));
  const { write, imported, priceOf } = await shop(...known, line("BIG", "10.00", 5120));
  const doubts: Record<string, string[]> = {
    [line("A", "15.10")]: ["changes by +51 %"],
    [line("A", "0")]: ["the price is 0", "changes by -100 %", "under a tenth of the price of its like"],
    [line("NEW", "101.00")]: ["over ten times the price of its like"],
    [line("NEW", "0.99")]: ["under a tenth of the price of its like"],
    [line("BIG", "10.00", 1024).replace("AUD", "USD")]: ["the currency was AUD"],
  };
  for (const [row, words] of Object.entries(doubts)) {
    write(row);
    expect(await imported()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words.join(", ")) });
    expect((await imported("--json")).exitCode).toBe(2);
    const foreseen = JSON.parse((await imported("--dry-run", "--json")).stdout);
    expect(foreseen.price_changes[0].doubts).toEqual(words);
  }
  // Alone of its size, nothing is said of its like.
  write(line("HUGE", "999.00", 51200), line("A", "15.00"));
  expect((await imported()).exitCode).toBe(0);
  write(line("A", "0.01"));
  expect((await imported("--yes")).exitCode).toBe(0);
  expect(await priceOf("A")).toBe(1);
});

test("the audit trail has the old and the new price of each product", async () => {
  const { data, write, imported } = await shop(line("A", "10.00"), line("B", "10.00"));
  write(line("A", "12.00"), line("B", "13.00"));
  await imported();
  const { data: records } = Object(await esimctlJson(["audit", "list", "--data", data])) as {
    data: { action: string; changes: unknown }[];
  };
  const updates = records.filter(({ action }) => action === "products.update");
  expect(updates.flatMap(({ changes }) => changes)).toEqual(
    expect.arrayContaining([
      { field: "price_cents", from: 1000, to: 1200 },
      { field: "price_cents", from: 1000, to: 1300 },
    ]),
  );
});

test("one SKU twice in a file: both rows are refused, naming both lines", async () => {
  const { file, write, imported, priceOf } = await shop(line("A", "10.00"));
  write(line("A", "11.00"), line("B", "10.00"), line("A", "12.00"));
  expect((await imported()).exitCode).toBe(3);
  const rejected = readFileSync(file.replace(".csv", ".rejected.csv"), "utf8");
  expect(rejected.match(/sku is on lines 2 and 4/g)).toHaveLength(2);
  expect(await priceOf("A")).toBe(1000);
});

test("--set gives what the file has no column for, and --unit gb reads gigabytes", async () => {
  const { data, file, imported } = await shop(line("A", "10.00"));
  const rows = "sku,name,region,coverage,data_amount_mb,validity_days,price,type";
  writeFileSync(file, `${rows}\nX,X,EU,FR,1.5,7,9,voice_data\nY,Y,EU,FR,0.3,7,9,data_only`);
  const set = ["currency=AUD", "type=data_only", "product_type=esim_qr_pregen", "delivery_method=stock"];
  const done = await imported("--unit", "gb", ...set.flatMap((one) => ["--set", one]));
  expect(done.exitCode).toBe(3);
  expect(done.stdout).toContain("0.3 GB are 307.2 MB");
  // The column of the file wins.
  expect(await esimctlJson(["products", "show", "X", "--data", data])).toMatchObject({
    ...{ data_amount_mb: 1536, type: "voice_data", currency: "AUD" },
  });
  expect(await imported("--set", "color=red")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('--set names "color", which is not read here'),
  });
});

test("products update takes every field, shows what would be, and asks where the price is doubtful", async () => {
  const { data, priceOf } = await shop(line("A", "10.00"));
  const update = (...more: string[]) => esimctl(["products", "update", "A", ...more, "--data", data]);
  const given = ["--name", "Asia", "--coverage", "Viet Nam, Atlantis", "--validity-days", "9", "--features", "a|b"];
  const foreseen = await update(...given, "--dry-run", "--json");
  const after = { name: "Asia", coverage: ["VN", "Atlantis"], validity_days: 9, features: ["a", "b"] };
  expect(JSON.parse(foreseen.stdout)).toMatchObject(after);
  expect(await esimctlJson(["products", "show", "A", "--data", data])).toMatchObject({ name: "A" });
  expect((await update(...given)).exitCode).toBe(0);
  expect(await esimctlJson(["products", "show", "A", "--data", data])).toMatchObject(after);
  expect((await update("--price", "100.00")).exitCode).toBe(2);
  expect((await update("--price", "100.00", "--yes")).stderr).toMatch(/A +10\.00 AUD +100\.00 AUD +\+900/);
  expect(await priceOf("A")).toBe(10_000);
  expect((await update("--coverage", "Grmany")).stderr).toContain("did you mean Germany?");
});

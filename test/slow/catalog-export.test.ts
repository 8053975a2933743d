/** @module-tag slow */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { esimctl, esimctlJson } from "../support/cli.ts";
import { temporaryDirectory } from "../support/store.ts";

type Row = Record<string, string>;

const HEAD =
  "sku,name,description,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method";

test("10,000 products with long descriptions export in flat memory", async () => {
  const data = join(temporaryDirectory(), "data");
  const file = join(data, "..", "products.csv");
  const lines = Array.from({ length: 10_000 }, (_, at) => {
    const description = `${at} `.repeat(5000).slice(0, 5000);
    return `P-${at},Plan ${at},${description},Europe,FR|DE,5120,30,12.50,AUD,data_only,esim_qr_pregen,stock`;
  });
  writeFileSync(file, `${HEAD}\n${lines.join("\n")}\n`);
  await esimctl(["init", "--data", data]);
  await esimctlJson(["products", "import", file, "--data", data]);
  for (const format of ["shopify", "woocommerce"]) {
    const output = join(data, "..", `${format}.csv`);
    const args = ["catalog", "export", "--format", format, "-o", output, "--data", data];
    // 10,000 × 5,000 characters: a process that keeps them all needs far more than this.
    const ended = await esimctl(args, { env: { NODE_OPTIONS: "--max-old-space-size=96" } });
    expect(ended.exitCode, ended.stderr).toBe(0);
    const rows: Row[] = parse(readFileSync(output), { columns: true });
    expect(rows).toHaveLength(10_000);
    expect(new Set(rows.map((row) => row.SKU)).size).toBe(10_000);
    expect(new Set(rows.map((row) => row.Price ?? row["Regular price"]))).toEqual(new Set(["16.25"]));
  }
});

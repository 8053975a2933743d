import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import countries from "i18n-iso-countries";
import { describe, expect, test } from "vitest";
import { openCsv } from "../src/cli/csv/open.ts";
import { activationsCsv, bulkOrdersCsv, passportsCsv, productsCsv, stockCsv, usageCsv } from "../src/cli/csv/specs.ts";
import type { CsvSpec } from "../src/core/csv/columns.ts";
import { luhnValid } from "../src/core/kernel/check-digits.ts";
import { readAll } from "./support/csv-files.ts";

describe("the sample files", () => {
  const stock = readdirSync("fixtures/stock").map((name) => join("fixtures/stock", name));
  const samples: [string, CsvSpec][] = [
    ["fixtures/products.csv", productsCsv],
    ["fixtures/passports.csv", passportsCsv],
    ["fixtures/activations.csv", activationsCsv],
    ["fixtures/bulk-orders.csv", bulkOrdersCsv],
    ["fixtures/usage.csv", usageCsv],
    ...stock.map((path): [string, CsvSpec] => [path, stockCsv]),
  ];
  test.each(samples)("%s reads without a warning", async (path, spec) => {
    const csv = await openCsv(path, spec);
    expect(csv.header.warnings).toEqual([]);
    for await (const row of csv) expect(row.fault).toBeNull();
    await csv.close();
  });

  test("products are unique, of all types and deliveries, and cover countries that exist", async () => {
    const rows = (await readAll("fixtures/products.csv", productsCsv)).map((row) => row.values);
    expect(new Set(rows.map((row) => row.sku)).size).toBe(rows.length);
    expect(new Set(rows.map((row) => row.region)).size).toBeGreaterThanOrEqual(10);
    const deliveries: Record<string, string[]> = {
      physical_sim: ["shipping"],
      esim_qr_pregen: ["stock"],
      esim_qr_api: ["supplier_api"],
      esim_eid_push: ["supplier_email", "eid_push"],
    };
    for (const row of rows) {
      expect(deliveries[row.product_type]).toContain(row.delivery_method);
      expect(row.supplier !== "").toBe(/^(supplier_|eid_push)/.test(row.delivery_method));
      expect(row.price_cents).toMatch(/^[1-9]\d*$/);
      for (const code of row.coverage.split("|")) expect(countries.isValid(code), `${row.sku} ${code}`).toBe(true);
    }
    expect(new Set(rows.map((row) => row.product_type)).size).toBe(4);
    expect(new Set(rows.map((row) => row.type))).toEqual(new Set(["data_only", "voice_data"]));
  });

  test("stock belongs to products sold from stock; its ICCIDs are unique and valid", async () => {
    const products = await readAll("fixtures/products.csv", productsCsv);
    const sold = products.filter((row) => row.values.delivery_method === "stock").map((row) => row.values.sku);
    const seen = new Set<string>();
    for (const path of stock) {
      expect(sold).toContain(basename(path, ".csv"));
      for (const { values } of await readAll(path, stockCsv)) {
        expect(values.iccid).toMatch(/^89\d{17}$/);
        expect(luhnValid(values.iccid)).toBe(true);
        expect(values.activation_code || `LPA:1$${values.smdp_address}$${values.matching_id}`).toMatch(
          /^LPA:1\$[a-z.-]+\.(example|example\.(com|net|org))\$[A-Z0-9-]{29}$/,
        );
        expect(seen.has(values.iccid)).toBe(false);
        seen.add(values.iccid);
      }
    }
  });

  test("activations and orders name carriers and products that exist, with and without a passport", async () => {
    const activations = (await readAll("fixtures/activations.csv", activationsCsv)).map((row) => row.values);
    expect(activations.filter((row) => row.passport_no === "")).toHaveLength(10);
    for (const row of activations) expect(row.iccid).toMatch(/^(896103|58)\d+$/);
    const skus = (await readAll("fixtures/products.csv", productsCsv)).map((row) => row.values.sku);
    const orders = (await readAll("fixtures/bulk-orders.csv", bulkOrdersCsv)).map((row) => row.values);
    for (const row of orders) expect(skus).toContain(row.sku);
    expect(new Set(orders.map((row) => row.external_order_id)).size).toBeLessThan(orders.length);
  });

  test("passports are unique, of countries that exist, and still valid for years", async () => {
    const rows = (await readAll("fixtures/passports.csv", passportsCsv)).map((row) => row.values);
    expect(rows).toHaveLength(60);
    expect(new Set(rows.map((row) => `${row.passport_country} ${row.passport_no}`)).size).toBe(60);
    for (const row of rows) {
      expect(countries.alpha3ToAlpha2(row.passport_country), row.passport_country).toBeDefined();
      expect(row.passport_expiry).toMatch(/^20(28|29|3[0-4])-\d\d-\d\d$/);
    }
  });
});

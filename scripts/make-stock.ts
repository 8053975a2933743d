/**
 * Writes fixtures/stock/<SKU>.csv: pre-generated eSIMs for a part of fixtures/products.csv, for the demo and the tests.
 * `node scripts/make-stock.ts`. Every digit derives from SKU and row number, so a second run writes the same bytes.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";

interface Batch {
  sku: string;
  rows: number;
  /** Issuer digits of the ICCID: 89, the country's dialling code, then the issuer's own number. */
  issuer: string;
  /** One of the names that RFC 2606 and 6761 keep out of use. */
  smdpAddress: string;
  /** Some suppliers protect a download with a code that the traveler types in. */
  confirmed?: boolean;
  /** Some suppliers hand out whole `LPA:1$…` strings instead of their parts. */
  whole?: boolean;
}

const batches: Batch[] = [
  { sku: "ES-GLB-1GB-7D", rows: 60, issuer: "8988239", smdpAddress: "smdp.example.net" },
  { sku: "ES-GLB-5GB-30D", rows: 50, issuer: "8988239", smdpAddress: "smdp.example.net" },
  { sku: "ES-EU-1GB-7D", rows: 60, issuer: "8944590", smdpAddress: "rsp.example.com" },
  { sku: "ES-EU-5GB-30D", rows: 60, issuer: "8944590", smdpAddress: "rsp.example.com" },
  { sku: "ES-EU-10GB-30D", rows: 50, issuer: "8944590", smdpAddress: "rsp.example.com" },
  { sku: "ES-UK-20GB-30D", rows: 40, issuer: "8944590", smdpAddress: "rsp.example.com", confirmed: true },
  { sku: "ES-AS-3GB-15D", rows: 50, issuer: "8985277", smdpAddress: "dp-plus.asia.example" },
  { sku: "ES-JP-10GB-30D", rows: 40, issuer: "8981690", smdpAddress: "dp-plus.asia.example" },
  { sku: "ES-NA-5GB-30D", rows: 50, issuer: "8988239", smdpAddress: "smdp.example.net" },
  { sku: "ES-US-5GB-30D", rows: 40, issuer: "8901881", smdpAddress: "esim.example.org", whole: true },
  { sku: "ES-AU-40GB-30D", rows: 60, issuer: "8961770", smdpAddress: "sm-dp.southern.example" },
  { sku: "ES-ME-3GB-15D", rows: 40, issuer: "8988239", smdpAddress: "smdp.example.net" },
];

/** Digits and letters that are not confused when read aloud. */
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** Bytes that look random and depend on `seed` alone. */
function bytes(seed: string): Buffer {
  return createHash("sha256").update(seed).digest();
}

/** A 19-digit ICCID; the cards of one batch come one after the other, as they leave the factory. */
function iccid(batch: Batch, row: number): string {
  const start = (bytes(batch.sku).readUInt32BE() % 10_000_000) * 100;
  const digits = batch.issuer + String(start + row).padStart(18 - batch.issuer.length, "0");
  return digits + luhnDigit(digits);
}

/** Five groups of five letters and digits. */
function matchingId(batch: Batch, row: number): string {
  const letters = [...bytes(`${batch.sku} matching ${row}`).subarray(0, 25)].map((byte) => LETTERS[byte % 32]);
  return [0, 5, 10, 15, 20].map((at) => letters.slice(at, at + 5).join("")).join("-");
}

function confirmationCode(batch: Batch, row: number): string {
  if (batch.confirmed !== true) return "";
  return String(bytes(`${batch.sku} confirmation ${row}`).readUInt32BE() % 1_000_000).padStart(6, "0");
}

function line(batch: Batch, row: number): Record<string, string> {
  const parts = { iccid: iccid(batch, row), smdp_address: batch.smdpAddress, matching_id: matchingId(batch, row) };
  if (batch.whole === true) {
    return { iccid: parts.iccid, activation_code: `LPA:1$${parts.smdp_address}$${parts.matching_id}` };
  }
  return { ...parts, confirmation_code: confirmationCode(batch, row) };
}

/** The SKUs that are sold from stock; a batch for any other product would be a mistake of this script. */
function stockSkus(): Set<string> {
  const products: Record<string, string>[] = parse(readFileSync("fixtures/products.csv"), { columns: true });
  return new Set(products.filter((it) => it.delivery_method === "stock").map((it) => it.sku ?? ""));
}

const sold = stockSkus();
const made = new Set<string>();
mkdirSync("fixtures/stock", { recursive: true });
for (const batch of batches) {
  if (!sold.has(batch.sku)) throw new Error(`${batch.sku} is not a product sold from stock`);
  const lines = Array.from({ length: batch.rows }, (_, row) => line(batch, row));
  for (const { iccid: number = "" } of lines) {
    if (made.has(number)) throw new Error(`ICCID ${number} twice`);
    made.add(number);
  }
  writeFileSync(join("fixtures", "stock", `${batch.sku}.csv`), stringify(lines, { header: true }));
}
console.log(`${made.size} eSIMs in ${batches.length} files`);

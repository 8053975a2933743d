import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { PartnerId, ProductId } from "../../src/core/kernel/brand.ts";
import { luhnDigit } from "../../src/core/kernel/check-digits.ts";
import { fillOrders } from "./fill-orders.ts";

/** A partner of the mix. */
export interface MixPartner {
  slug: string;
  clientId: string;
  clientSecret: string;
}

/** What a mix is served from. */
export interface MixData {
  /** A copy for each side. */
  copy(to: string): string;
  partners: MixPartner[];
  productIds: string[];
}

/** Products; the first ten are in stock. */
const PRODUCTS = 60;
const STOCKED = 10;

interface Wanted {
  partners: number;
  orders: number;
  stock: number;
}

/**
 * Makes a data directory by the command line of `program`, the earlier of two builds: the later one migrates its copy.
 * The orders of the past are written by SQL.
 */
export function mixData(program: string, folder: string, { partners, orders, stock }: Wanted): MixData {
  const data = join(folder, "made");
  const run = (...args: string[]): Record<string, string> => {
    const text = execFileSync(process.execPath, [program, ...args, "--data", data, "--json", "--yes"], {
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 64 * 1024 * 1024,
    });
    return JSON.parse(String(text)) as Record<string, string>;
  };
  run("init");
  writeFileSync(join(folder, "products.csv"), productsCsv());
  run("products", "import", join(folder, "products.csv"));
  for (let at = 0; at < STOCKED; at++) {
    const file = join(folder, `stock-${at}.csv`);
    writeFileSync(file, stockCsv(at, Math.ceil(stock / STOCKED)));
    run("stock", "import", file, "--sku", `PLAN-${at}`);
  }
  const made = Array.from({ length: partners }, (_, at): MixPartner & { id: string } => {
    const slug = `partner-${at}`;
    const { id = "" } = run("partners", "create", slug, "--name", `Partner ${at}`, "--production");
    run("partners", "update", slug, "--rate-limit", "10000000");
    run("wallet", "credit", "--partner", slug, "--amount", "1000000", "--currency", "AUD");
    const { client_id = "", client_secret = "" } = run("credentials", "create", "--partner", slug, "--live");
    return { id, slug, clientId: client_id, clientSecret: client_secret };
  });
  const file = join(data, "esimctl.db");
  const productIds = idsOf(file);
  const each = Math.ceil(orders / partners);
  for (const [at, { id }] of made.entries()) {
    // The IDs are those that the program just printed.
    const past = { partnerId: id as PartnerId, productId: productIds[0] as ProductId, orders: each, first: at * each };
    fillOrders(file, past);
  }
  return {
    copy: (to) => {
      cpSync(data, to, { recursive: true });
      return to;
    },
    partners: made,
    productIds: productIds.slice(0, STOCKED),
  };
}

function idsOf(file: string): string[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .prepare<[], { id: string }>("SELECT id FROM products ORDER BY sku")
      .all()
      .map(({ id }) => id);
  } finally {
    database.close();
  }
}

/** Sorted by SKU the stocked ones are the first. */
function productsCsv(): string {
  const head = "sku,name,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method";
  const rows = Array.from({ length: PRODUCTS }, (_, at) => {
    const sku = at < STOCKED ? `PLAN-${at}` : `PLAN-X${at}`;
    return `${sku},Plan ${at},Europe,FR|DE,1024,30,${(2.5 + at / 100).toFixed(2)},AUD,data_only,esim_qr_pregen,stock`;
  });
  return `${[head, ...rows].join("\n")}\n`;
}

function stockCsv(product: number, count: number): string {
  const rows = Array.from({ length: count }, (_, at) => {
    // Not one after the other: no two look like a column that a spreadsheet filled.
    const body = `89372${String(product).padStart(3, "0")}${String((at + 1) * 79_189_393)
      .padStart(10, "0")
      .slice(-10)}`;
    return `${body}${luhnDigit(body)},smdp.example,M-${product}-${at}`;
  });
  return `${["iccid,smdp_address,matching_id", ...rows].join("\n")}\n`;
}

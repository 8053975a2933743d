import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { listCarriers } from "../../core/carriers/carrier.ts";
import { ensureCarriers } from "../../core/carriers/seed.ts";
import { setCarrier } from "../../core/carriers/set.ts";
import { importProducts } from "../../core/catalog/import.ts";
import { createCredential } from "../../core/credentials/create.ts";
import type { CsvSpec } from "../../core/csv/columns.ts";
import type { CsvRow } from "../../core/csv/rows.ts";
import { checkStockRow, importStock } from "../../core/esims/import-stock.ts";
import type { Checked } from "../../core/kernel/checked.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import { parseMoney } from "../../core/kernel/money.ts";
import { createPartner } from "../../core/partners/create.ts";
import { listPartners } from "../../core/partners/partner.ts";
import type { Store } from "../../core/store/store.ts";
import { creditWallet } from "../../core/wallet/fund.ts";
import { packageRoot } from "../../daemon/pages/package-root.ts";
import { checkProductRow } from "../bulk/product-row.ts";
import { openCsv } from "../csv/open.ts";
import { productsCsv, stockCsv } from "../csv/specs.ts";
import { CliError } from "../kernel/errors.ts";
import { OPERATOR } from "../place/operator.ts";

/** The demo partner's slug. */
export const DEMO_PARTNER = "demo";

/** What the demo partner's wallet starts with. */
const funds = [
  ["10000.00", "AUD"],
  ["5000.00", "USD"],
  ["5000.00", "EUR"],
] as const;

/** A credential of the demo partner, with its secret. */
export interface DemoCredential {
  environment: Environment;
  client_id: string;
  client_secret: string;
}

/**
 * Puts the sample catalog, its stock and a funded partner into the store and issues the partner's two credentials. An
 * unfinished earlier run is completed. Throws `demo_refused` where there are other partners.
 */
export async function loadDemo(store: Store): Promise<DemoCredential[]> {
  const partners = await store.read(listPartners, null);
  if (partners.some(({ slug }) => slug !== DEMO_PARTNER)) {
    throw new CliError(
      "demo_refused",
      "There are partners here already; demo data does not go among them.",
      "Give another, new directory with --data.",
    );
  }
  const fixtures = join(packageRoot(), "fixtures");
  const products = await readAll(join(fixtures, "products.csv"), productsCsv, checkProductRow);
  await store.write(importProducts, { products, actor: OPERATOR });
  await loadStock(store, join(fixtures, "stock"));
  await simulateCarriers(store);
  if (partners.length === 0) await addPartner(store);
  return [await issue(store, "sandbox"), await issue(store, "production")];
}

/** The demo's carriers are simulated: the ICCID's last digits decide what they answer. */
async function simulateCarriers(store: Store): Promise<void> {
  await store.write(ensureCarriers, null);
  for (const { prefix } of await store.read(listCarriers, null)) {
    await store.write(setCarrier, { prefix, settings: { adapter: "simulator" }, actor: OPERATOR });
  }
}

/** Rejected rows of an earlier import may be beside the samples. */
function isStockFile(name: string): boolean {
  return name.endsWith(".csv") && !name.endsWith(".rejected.csv");
}

/** Each file holds eSIMs of the product that it is named after. */
async function loadStock(store: Store, folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter(isStockFile).sort()) {
    const rows = await readAll(join(folder, name), stockCsv, ({ values }) => checkStockRow(values, { luhn: true }));
    await store.write(importStock, { sku: name.slice(0, -".csv".length), rows, actor: OPERATOR });
  }
}

async function readAll<C extends string, T>(
  file: string,
  spec: CsvSpec<C>,
  check: (row: CsvRow<C>) => Checked<T>,
): Promise<T[]> {
  const csv = await openCsv(file, spec);
  try {
    const rows: T[] = [];
    for await (const row of csv) {
      const checked = check(row);
      if (!("ok" in checked)) throw new Error(`${file}, line ${row.line}: ${checked.problems.join("; ")}`);
      rows.push(checked.ok);
    }
    return rows;
  } finally {
    await csv.close();
  }
}

async function addPartner(store: Store): Promise<void> {
  const partner = await store.write(createPartner, {
    slug: DEMO_PARTNER,
    name: "Demo Travel",
    tier: "premium",
    agent: true,
    production: true,
    actor: OPERATOR,
  });
  for (const [amount, currency] of funds) {
    const money = { amount: parseMoney(amount, currency), currency, reference: "demo funds" };
    await store.write(creditWallet, { partnerId: partner.id, ...money, actor: OPERATOR });
  }
}

async function issue(store: Store, environment: Environment): Promise<DemoCredential> {
  const input = { partner: DEMO_PARTNER, live: environment === "production", label: "demo", actor: OPERATOR };
  const { client_id, client_secret } = await store.write(createCredential, input);
  return { environment, client_id, client_secret };
}

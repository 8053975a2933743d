import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newData } from "./installation.ts";
import { temporaryDirectory } from "./store.ts";
import { esimctl, esimctlJson } from "./warm.ts";

const HEAD = "sku,name,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method";

/** A line of a file of products. */
export const line = (sku: string, price: string, currency = "AUD") =>
  `${sku},${sku},Europe,FR,1024,7,${price},${currency},data_only,esim_qr_pregen,stock`;

/** An installation with products of these lines, and one partner. */
export async function priceShop(...lines: string[]) {
  const folder = temporaryDirectory();
  const at = ["--data", await newData(folder)];
  const file = (name: string, ...rows: string[]) => {
    const path = join(folder, name);
    writeFileSync(path, rows.join("\n"));
    return path;
  };
  const run = (...args: string[]) => esimctl([...args, ...at]);
  const json = async (...args: string[]) => Object(await esimctlJson([...args, ...at]));
  await json("products", "import", file("plans.csv", HEAD, ...lines), "--yes");
  await json("partners", "create", "acme", "--name", "Acme", "--production");
  return { file, run, json };
}

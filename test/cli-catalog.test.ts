import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { describe, expect, onTestFinished, test } from "vitest";
import { newData } from "./support/installation.ts";
import { launchCommand, program } from "./support/process.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

type Row = Record<string, string>;

const HEAD =
  "sku,name,description,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method";
const PRODUCTS = `${HEAD}
EU-5,"Europe 5 GB, 30 days",Fast & wide,Europe,FR|DE,5120,30,12.50,AUD,data_only,esim_qr_pregen,stock
EU-V,"Europe ""Voice""",,Europe,FR,1024,7,9.99,AUD,voice_data,esim_qr_pregen,stock
SIM-1,SIM card,,Europe,"DE, fra;Italy|Korea, Republic of",1024,7,9.99,AUD,voice_data,physical_sim,shipping
JP-3,日本 3 GB,"Two
lines","Asia, Pacific",JP,3072,15,1501,JPY,data_only,esim_qr_pregen,stock
`;

/** A data directory with these products, and a way to run `catalog export` on it. */
async function shop() {
  const folder = temporaryDirectory();
  const data = await newData(folder);
  writeFileSync(join(folder, "products.csv"), PRODUCTS);
  await esimctlJson(["products", "import", join(folder, "products.csv"), "--data", data]);
  const args = (more: string[]) => ["catalog", "export", "--data", data, ...more];
  return {
    folder,
    run: (...more: string[]) => esimctl(args(more)),
    json: (...more: string[]) => esimctlJson(args(more)),
    async rows(...more: string[]): Promise<Row[]> {
      const ended = await esimctl(args(more));
      expect(ended.exitCode, ended.stderr).toBe(0);
      return parse(ended.stdout, { columns: true });
    },
  };
}

describe("CSV for Shopify", () => {
  test("has the columns of its importer, and parses back to the names and prices of the API", async () => {
    const { rows, json } = await shop();
    const found = await rows("--format", "shopify");
    expect(Object.keys(found[0] ?? {})).toEqual([
      "Title",
      "URL handle",
      "Description",
      "Vendor",
      "Type",
      "Tags",
      "Published on online store",
      "Status",
      "SKU",
      "Option1 name",
      "Option1 value",
      "Price",
      "Charge tax",
      "Inventory tracker",
      "Continue selling when out of stock",
      "Requires shipping",
      "Fulfillment service",
      "Product image URL",
      "Image position",
      "Image alt text",
      "Gift card",
    ]);
    expect(found.map((row) => [row.Title, row.SKU, row.Price])).toEqual([
      ["Europe 5 GB, 30 days", "EU-5", "16.25"],
      ['Europe "Voice"', "EU-V", "12.99"],
      ["SIM card", "SIM-1", "12.99"],
      ["日本 3 GB", "JP-3", "1951"],
    ]);
    expect(new Set(found.map((row) => row["URL handle"])).size).toBe(4);
    const { products } = (await json("--format", "shopify")) as { products: { title: string; variants: Row[] }[] };
    expect(found.map((row) => [row.Title, row.Price])).toEqual(
      products.map(({ title, variants }) => [title, variants[0]?.price]),
    );
    for (const row of found) {
      expect(row["Product image URL"]).toMatch(/^http:\/\/127\.0\.0\.1:8080\/media\/products\/[0-9a-f-]{36}\.png$/);
      expect(row["URL handle"]).toMatch(/^[a-z0-9-]+$/);
    }
  });
});

describe("CSV for WooCommerce", () => {
  test("has the columns of its importer, and parses back to the names and prices of the API", async () => {
    const { rows, json } = await shop();
    const found = await rows("--format", "woocommerce", "--markup", "45");
    expect(Object.keys(found[0] ?? {})).toEqual([
      "Type",
      "SKU",
      "Name",
      "Published",
      "Is featured?",
      "Visibility in catalog",
      "Short description",
      "Description",
      "Tax status",
      "In stock?",
      "Regular price",
      "Categories",
      "Images",
      "Meta: esim_product_id",
      "Meta: data_amount_mb",
      "Meta: validity_days",
      "Meta: coverage",
      "Meta: currency",
    ]);
    const { products } = (await json("--format", "woocommerce", "--markup", "45")) as { products: Row[] };
    expect(found.map((row) => [row.Name, row.SKU, row["Regular price"]])).toEqual(
      products.map(({ name, sku, regular_price }) => [name, sku, regular_price]),
    );
    expect(found.map((row) => row["Regular price"])).toEqual(["18.13", "14.49", "14.49", "2176"]);
    expect(found[0]).toMatchObject({ Type: "simple, virtual", Published: "1" });
    expect(found[0]?.Description).toMatch(/^Fast &amp; wide$/m);
    expect(found[0]?.Images).toMatch(/^http:\/\/127\.0\.0\.1:8080\/media\/products\/[0-9a-f-]{36}\.png$/);
    // A comma within one category, not between two.
    expect(found[3]?.Categories).toBe("Asia\\, Pacific");
  });
});

test("generic CSV has the fields of the API's generic item", async () => {
  const { rows, json } = await shop();
  const found = await rows("--format", "generic");
  const { products } = (await json("--format", "generic")) as { products: Record<string, unknown>[] };
  for (const [at, product] of products.entries()) {
    const { coverage, images, description, ...plain } = product;
    const texts = Object.fromEntries(Object.entries(plain).map(([field, value]) => [field, String(value)]));
    expect(found[at]).toMatchObject({ ...texts, description: description ?? "" });
    expect(found[at]?.coverage?.split("|")).toEqual(coverage);
    expect(found[at]?.images).toBe((images as { src: string }[])[0]?.src);
  }
});

test("no cell of a CSV file is a formula", async () => {
  const { folder, rows } = await shop();
  const names = ["=1+1", "@SUM(A1)", "-2+3", "+A1"];
  const lines = names.map((name, at) => `F${at},${name},${name},Europe,FR,1,1,1.00,AUD,data_only,esim_qr_pregen,stock`);
  writeFileSync(join(folder, "formulas.csv"), [HEAD, ...lines].join("\n"));
  await esimctlJson(["products", "import", join(folder, "formulas.csv"), "--data", join(folder, "data")]);
  const columns = { generic: "name", shopify: "Title", woocommerce: "Name" };
  for (const [format, column] of Object.entries(columns)) {
    const found = (await rows("--format", format)).map((row) => row[column] ?? "");
    expect(found, format).toEqual(expect.arrayContaining(names.map((name) => `'${name}`)));
  }
});

test("a link at the place of a written file is replaced, never followed, and the file is the user's own", async () => {
  const { folder, run } = await shop();
  const precious = join(folder, "precious.txt");
  writeFileSync(precious, "precious", { mode: 0o644 });
  const targets = ["out.csv", "out.json", "bad.rejected.json"].map((name) => join(folder, name));
  for (const target of targets) for (const path of [target, `${target}.partial`]) symlinkSync(precious, path);
  writeFileSync(join(folder, "bad.json"), "[{}]");
  for (const file of targets.slice(0, 2))
    expect(await run("--format", "generic", "-o", file)).toMatchObject({ exitCode: 0 });
  await esimctl(["products", "import", join(folder, "bad.json"), "--data", join(folder, "data")]);
  for (const target of targets) {
    expect([lstatSync(target).isFile(), lstatSync(target).mode & 0o777], target).toEqual([true, 0o600]);
  }
  expect(readFileSync(precious, "utf8")).toBe("precious");
  const backup = join(folder, "kept.backup");
  for (const path of [backup, `${backup}.partial`]) symlinkSync(join(folder, "absent"), path);
  const kept = await esimctl(["backup", backup, "--data", join(folder, "data")]);
  expect([kept.exitCode, lstatSync(backup).isFile(), lstatSync(backup).mode & 0o777], kept.stderr).toEqual([
    0,
    true,
    0o600,
  ]);
  expect(existsSync(join(folder, "absent"))).toBe(false);
  symlinkSync(folder, join(folder, "to-folder"));
  expect(await run("--format", "generic", "-o", join(folder, "to-folder"))).toMatchObject({ exitCode: 1 });
});

test.skipIf(!existsSync("/dev/shm"))(
  "a file in /dev/shm is written like any other, with rejected rows beside it",
  async () => {
    const { folder, run } = await shop();
    const at = mkdtempSync("/dev/shm/esimctl-test-");
    onTestFinished(() => rmSync(at, { recursive: true }));
    const [precious, file] = [join(folder, "precious.txt"), join(at, "out.csv")];
    writeFileSync(precious, "precious");
    symlinkSync(precious, file);
    const exported = await run("--format", "generic", "-o", file);
    expect([exported.exitCode, lstatSync(file).isFile(), lstatSync(file).mode & 0o777]).toEqual([0, true, 0o600]);
    expect(readFileSync(precious, "utf8")).toBe("precious");
    writeFileSync(join(at, "products.csv"), PRODUCTS.replace("12.50", "free"));
    const data = join(folder, "data");
    await esimctl(["products", "import", join(at, "products.csv"), "--data", data], { cwd: folder });
    expect(readFileSync(join(at, "products.rejected.csv"), "utf8")).toContain("EU-5");
  },
);

test("pipes and links to file descriptors are streams: rejected rows go to stdin.rejected.csv", async () => {
  const { folder, run } = await shop();
  const expected = (await run("--format", "generic")).stdout;
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const [read, exported] = await Promise.all([readFile(pipe, "utf8"), run("--format", "generic", "-o", pipe)]);
  expect([exported.exitCode, read.trimEnd(), lstatSync(pipe).isFIFO()]).toEqual([0, expected, true]);
  const data = join(folder, "data");
  const args = (path: string) => ["products", "import", path, "--data", data];
  const rows = PRODUCTS.replace("12.50", "free");
  const [imported] = await Promise.all([esimctl(args(pipe), { cwd: folder }), writeFile(pipe, rows)]);
  expect(imported.exitCode, imported.stderr).toBe(3);
  const rejected = join(folder, "stdin.rejected.csv");
  expect(readFileSync(rejected, "utf8")).toContain("EU-5");
  rmSync(rejected);
  const piped = `cat ${join(folder, "bad.csv")} | "$0" "$1" products import /dev/stdin --data ${data} > /dev/null;
    "$0" "$1" catalog export --format generic --data ${data} -o /dev/stdout | cat`;
  writeFileSync(join(folder, "bad.csv"), rows);
  const shell = await launchCommand("sh", ["-c", piped, process.execPath, program], { cwd: folder }).ended;
  expect([shell.exitCode, shell.stdout.trimEnd().split("\n").slice(0, -1).join("\n")], shell.stderr).toEqual([
    0,
    expected,
  ]);
  expect(readFileSync(rejected, "utf8")).toContain("EU-5");
});

test("filters narrow the file as they narrow the API's response", async () => {
  const { rows, json } = await shop();
  expect((await rows("--format", "generic", "--region", "Europe")).map((row) => row.sku)).toEqual([
    "EU-5",
    "EU-V",
    "SIM-1",
  ]);
  const voice = ["--format", "shopify", "--region", "Europe", "--type", "voice_data"];
  expect((await rows(...voice)).map((row) => row.SKU)).toEqual(["EU-V", "SIM-1"]);
  expect(await json(...voice)).toMatchObject({ format: "platform_a", count: 2 });
  expect(await rows("--format", "shopify", "--region", "Nowhere")).toEqual([]);
  const japan = ["--format", "generic", "--country", "Japan", "--region", "asia, pacific"];
  expect((await rows(...japan)).map((row) => row.sku)).toEqual(["JP-3"]);
  expect(await json(...japan)).toMatchObject({ count: 1 });
});

test("SIM cards are physical goods, eSIMs are not", async () => {
  const { rows, json } = await shop();
  const shipped = (found: Row[], column: string) => Object.fromEntries(found.map((row) => [row.SKU, row[column]]));
  const inShopify = shipped(await rows("--format", "shopify"), "Requires shipping");
  expect(inShopify).toEqual({ "EU-5": "FALSE", "EU-V": "FALSE", "SIM-1": "TRUE", "JP-3": "FALSE" });
  const inWoocommerce = shipped(await rows("--format", "woocommerce"), "Type");
  expect(inWoocommerce).toMatchObject({ "EU-5": "simple, virtual", "SIM-1": "simple" });
  const { products } = (await json("--format", "woocommerce")) as { products: { sku: string; virtual: boolean }[] };
  expect(products.filter(({ virtual }) => !virtual).map(({ sku }) => sku)).toEqual(["SIM-1"]);
});

describe("coverage", () => {
  const row = (sku: string, coverage: string) =>
    `${sku},${sku},,Europe,"${coverage}",1,1,1.00,AUD,data_only,esim_qr_pregen,stock`;

  async function imported(coverages: Record<string, string>) {
    const { folder, rows } = await shop();
    const file = join(folder, "coverage.csv");
    writeFileSync(file, [HEAD, ...Object.entries(coverages).map(([sku, coverage]) => row(sku, coverage))].join("\n"));
    const ended = await esimctl(["products", "import", file, "--data", join(folder, "data"), "--json"]);
    const rejected = join(folder, "coverage.rejected.csv");
    return {
      exitCode: ended.exitCode,
      summary: JSON.parse(ended.stdout),
      rejected: existsSync(rejected) ? readFileSync(rejected, "utf8") : "",
      coverage: Object.fromEntries(
        (await rows("--format", "generic")).map(({ sku = "", coverage = "" }) => [sku, coverage.split("|")]),
      ),
      folder,
    };
  }

  test("accepts codes and names with any separator, also in a filter", async () => {
    const { json, rows } = await shop();
    const sim = (await rows("--format", "generic")).find(({ sku }) => sku === "SIM-1");
    expect(sim?.coverage).toBe("DE|FR|IT|KR");
    expect(await json("--format", "generic", "--country", "IT")).toMatchObject({ count: 1 });
  });

  test("reads suppliers' names and ISO's with commas, and keeps the names of other places", async () => {
    const found = await imported({
      OLD: "Viet Nam,Macau,UK,UAE,DR Congo,Swaziland,Czech Republic,Holland,Burma",
      ISO: "Japan, Korea, Republic of, Bonaire, Sint Eustatius and Saba, Congo, The Democratic Republic of the",
      PLACES: "Canary Islands|Hawaii|Northern Cyprus|Scotland|Bonaire|Netherlands Antilles|Europe|Atlantis",
    });
    expect(found).toMatchObject({ exitCode: 0, summary: { imported: 3, rejected: 0 } });
    const places = [
      ...["Canary Islands", "Hawaii", "Northern Cyprus", "Scotland", "Bonaire", "Netherlands Antilles", "Europe"],
      "Atlantis",
    ];
    expect(found.coverage).toMatchObject({
      OLD: ["VN", "MO", "GB", "AE", "CD", "SZ", "CZ", "NL", "MM"],
      ISO: ["JP", "KR", "BQ", "CD"],
      PLACES: places,
    });
    expect(found.summary.kept_names).toEqual(places);
  });

  test("refuses unassigned codes, names of two countries, and near misses", async () => {
    const found = await imported({ CODE: "FR,QQ", TWO: "Korea", CONGO: "Congo", NEAR: "Grmany", GOOD: "FR,GB" });
    expect(found).toMatchObject({ exitCode: 3, summary: { imported: 1, rejected: 4, kept_names: [] } });
    for (const words of [
      'coverage has ""QQ"", which is no ISO 3166-1 code',
      'coverage has ""Korea"", which may be KR (South Korea) or KP (North Korea)',
      'coverage has ""Congo"", which may be CG (Congo - Brazzaville) or CD (Congo - Kinshasa)',
      'coverage has ""Grmany"", which is no country (did you mean Germany?)',
    ]) {
      expect(found.rejected).toContain(words);
    }
    const record = {
      ...{ sku: "J", name: "J", region: "Asia", coverage: ["japan", "Grmany"], data_amount_mb: 1, validity_days: 1 },
      ...{
        price_cents: 1,
        currency: "AUD",
        type: "data_only",
        product_type: "esim_qr_pregen",
        delivery_method: "stock",
      },
    };
    const file = join(found.folder, "coverage.json");
    writeFileSync(file, JSON.stringify([record]));
    const refused = await esimctl(["products", "import", file, "--data", join(found.folder, "data")]);
    expect(refused.exitCode).toBe(1);
    expect(readFileSync(join(found.folder, "coverage.rejected.json"), "utf8")).toContain("did you mean Germany?");
  });
});

describe("-o", () => {
  test("writes what stdout would show, and reports it", async () => {
    const { folder, run, json } = await shop();
    const file = join(folder, "shop.csv");
    const written = await run("--format", "shopify", "-o", file);
    expect(written).toMatchObject({ exitCode: 0, stdout: `4 products written to ${file}` });
    expect(readFileSync(file, "utf8").trimEnd()).toBe((await run("--format", "shopify")).stdout);
    expect(await json("--format", "shopify", "-o", file)).toEqual({ file, format: "shopify", as: "csv", count: 4 });
    const document = join(folder, "shop.json");
    await run("--format", "woocommerce", "-o", document);
    expect(JSON.parse(readFileSync(document, "utf8"))).toMatchObject({ format: "platform_b", count: 4 });
    expect(readdirSync(folder).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  test("leaves the old file in place when the new one cannot be made", async () => {
    const { folder, run } = await shop();
    writeFileSync(join(folder, "old.csv"), "old");
    const refused = await run("--format", "shopify", "--country", "Nowhere", "-o", join(folder, "old.csv"));
    expect(refused.exitCode).toBe(1);
    expect(readFileSync(join(folder, "old.csv"), "utf8")).toBe("old");
    expect((await run("--format", "shopify", "-o", join(folder, "none", "x.csv"))).exitCode).toBe(1);
  });
});

test("several currencies in one file print a warning", async () => {
  const { run } = await shop();
  expect((await run("--format", "shopify")).stderr).toMatch(/AUD, JPY/);
  expect((await run("--format", "shopify", "--region", "Europe")).stderr).not.toContain("Prices are in");
});

test("--currency takes what has prices in it, in every form", async () => {
  const { run, rows, json } = await shop();
  expect((await rows("--format", "shopify", "--currency", "jpy")).map((row) => row.SKU)).toEqual(["JP-3"]);
  expect(await json("--format", "generic", "--currency", "JPY")).toMatchObject({ products: [{ sku: "JP-3" }] });
  expect((await rows("--format", "generic", "--currency", "EUR")).length).toBe(0);
  const refused = await run("--format", "shopify", "--currency", "YEN");
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("must be an ISO 4217 currency code")]);
});

test("pictures that no shop can load, and apostrophes that shops show, are warned of", async () => {
  const { folder, run } = await shop();
  const named = `${HEAD}\nEVIL,=cmd(1),,Europe,FR,1024,7,9.99,AUD,data_only,esim_qr_pregen,stock\n`;
  writeFileSync(join(folder, "more.csv"), named);
  await esimctlJson(["products", "import", join(folder, "more.csv"), "--data", join(folder, "data")]);
  const { stderr } = await run("--format", "shopify");
  expect(stderr).toMatch(/Pictures are at http:\/\/(localhost|127\.0\.0\.1):\d+, this machine: no shop can load them/);
  expect(stderr).toMatch(/An apostrophe is before what a spreadsheet would run.*EVIL\./);
  expect((await run("--format", "shopify", "--region", "Asia, Pacific")).stderr).not.toContain("apostrophe");
});

test.each([
  [["--format", "magento"], /generic, shopify, woocommerce/],
  [["--format", "shopify", "--markup", "-5"], /--markup must be a percentage/],
  [["--format", "shopify", "--markup", "many"], /--markup must be a percentage/],
  [["--format", "shopify", "--as", "csv", "--json"], /CSV is none/],
  [[], /--format/],
])("%j is wrong usage", async (args, words) => {
  const { run } = await shop();
  const { exitCode, stdout, stderr } = await run(...args);
  expect(exitCode).toBe(2);
  expect(stdout + stderr).toMatch(words);
});

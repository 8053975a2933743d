import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { newData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const PRODUCT =
  "sku,name,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method\n" +
  "EU5,Europe,Europe,FR,5120,30,8.90,AUD,data_only,esim_qr_pregen,stock\n";
const PEOPLE = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";

async function setUp() {
  const data = await newData();
  const folder = temporaryDirectory();
  const write = (name: string, lines: string[]) => {
    writeFileSync(join(folder, name), lines.join("\n"));
    return join(folder, name);
  };
  const run = (line: string) => esimctl([...line.split(" "), "--data", data]);
  const json = async (line: string) => Object(await esimctlJson([...line.split(" "), "--data", data]));
  await run(`products import ${write("products.csv", [PRODUCT])}`);
  await run("partners create acme --name Acme --agent");
  const summaryOf = async (line: string) => JSON.parse((await run(`${line} --json`)).stdout);
  const rejected = (name: string) => readFileSync(join(folder, name.replace(".csv", ".rejected.csv")), "utf8");
  return { write, run, json, summaryOf, rejected };
}

const sims = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const digits = `8944${String(from + at * 7).padStart(14, "0")}`;
    return digits + luhnDigit(digits);
  });

test("stock: another code for a known ICCID, and one code on several ICCIDs, are refused", async () => {
  const { write, summaryOf, rejected } = await setUp();
  const [a = "", b = "", c = "", d = ""] = sims(100, 4);
  const head = "iccid,smdp_address,matching_id";
  const first = write("stock.csv", [head, `${a},smdp.example.com,K1`, `${b},smdp.example.com,K2`]);
  expect(await summaryOf(`stock import ${first} --sku EU5`)).toMatchObject({ imported: 2, rejected: 0 });
  const lines = [`${a},SMDP.example.com,k1`, `${b},smdp.example.com,K9`, `${c},smdp.example.com,K7`];
  const again = write("again.csv", [head, ...lines, `${d},smdp.example.com,K7`]);
  expect(await summaryOf(`stock import ${again} --sku EU5`)).toMatchObject({ imported: 0, duplicates: 1, rejected: 3 });
  expect(rejected("again.csv")).toContain("iccid is in stock with another matching_id");
  expect(rejected("again.csv").match(/matching_id is that of several ICCIDs, on lines 4 and 5/g)).toHaveLength(2);
  const twice = write("twice.csv", [head, `${c},smdp.example.com,K7`, `${c},smdp.example.com,K8`]);
  expect(await summaryOf(`stock import ${twice} --sku EU5`)).toMatchObject({ imported: 0, rejected: 2 });
  expect(rejected("twice.csv")).toContain("iccid has different codes on lines 2 and 3");
});

/** Another one that ends as a spreadsheet rounds, with a right check digit. */
const ROUNDED = Array.from({ length: 100 }, (_, at) => `8944007711111${String(at).padStart(2, "0")}000`).find(
  (digits) => luhnDigit(digits) === "0",
);

test("stock: one ICCID that ends in zeros among many is warned of, and taken", async () => {
  const { write, summaryOf } = await setUp();
  const rows = sims(500, 40).map((iccid, at) => `${iccid},smdp.example.com,Z${at}`);
  const file = write("stock.csv", [
    "iccid,smdp_address,matching_id",
    ...rows,
    "8944007700000090000,smdp.example.com,B",
  ]);
  const { imported, warnings } = await summaryOf(`stock import ${file} --sku EU5`);
  expect(imported).toBe(41);
  expect(warnings).toMatchObject([{ reason: expect.stringContaining("ends in zeros"), rows: 1 }]);
});

test("stock: ICCIDs that a spreadsheet spoiled are refused with the reason", async () => {
  const { write, summaryOf } = await setUp();
  const dragged = [0, 1, 2, 3].map((more) => `${8944590004463637000n + BigInt(more)},smdp.example.com,D${more}`);
  const file = write("stock.csv", [
    "iccid,smdp_address,matching_id",
    "8.94459E+18,smdp.example.com,A",
    "8944007700000090000,smdp.example.com,B",
    `${ROUNDED}0,smdp.example.com,E`,
    "894459000446363700,smdp.example.com,C",
    ...dragged,
  ]);
  const { imported, reasons } = await summaryOf(`stock import ${file} --sku EU5`);
  expect(imported).toBe(0);
  const words = reasons.map(({ reason }: { reason: string }) => reason).join("\n");
  expect(words).toMatch(/iccid was shortened by a spreadsheet/);
  expect(words).toMatch(/iccid ends in zeros: a spreadsheet keeps 15 digits .*--no-luhn/);
  expect(words).toMatch(/iccid must have 19 or 20 digits, and has 18/);
  expect(words).toMatch(/iccid counts up by one from line to line/);
});

test("ICCIDs that begin with zeros keep them everywhere, and one that lost them is refused", async () => {
  const { write, run, json, summaryOf } = await setUp();
  const digits = "000894459000446363";
  const iccid = digits + luhnDigit(digits);
  const head = "iccid,smdp_address,matching_id";
  const lost = write("lost.csv", [head, `${BigInt(iccid)},smdp.example.com,L`]);
  const { reasons } = await summaryOf(`stock import ${lost} --sku EU5`);
  expect(reasons).toMatchObject([{ reason: "iccid must have 19 or 20 digits, and has 16" }]);
  const whole = write("whole.csv", [head, `${iccid},smdp.example.com,L`]);
  expect(await summaryOf(`stock import ${whole} --sku EU5`)).toMatchObject({ imported: 1 });
  await run("partners update acme --production");
  await json("wallet credit --partner acme --amount 100.00 --currency AUD --reference T1");
  const order = await json("orders create --product EU5 --quantity 1 --partner acme --yes");
  expect(await json(`orders show ${order.id}`)).toMatchObject({ iccids: [iccid] });
  expect((await run(`find ${iccid}`)).stdout).toContain(order.order_number);
  expect((await run("esims list --partner acme --csv")).stdout).toContain(`\n${iccid},`);
});

test("activations: wrong check digits, other ends and short PUKs are warned of", async () => {
  const { write, summaryOf } = await setUp();
  const head = `iccid,activation_date,${PEOPLE},address,sim_last4,puk`;
  const date = `${new Date().getUTCFullYear() + 1}-03-01`;
  const identity = `Philippa,Underwold,1964-07-16,342075096,GBR,${new Date().getUTCFullYear() + 9}-12-20,Flat 4`;
  const file = write("sims.csv", [
    head,
    `8961032200826199583,${date},${identity},9583,22542821`,
    `8961032200826199584,${date},${identity},9583,2542821`,
  ]);
  const warnings = ["iccid has a wrong check digit", "sim_last4 is not the end of the iccid", "puk has 7 digits of 8"];
  const strict = await summaryOf(`activations submit ${file} --partner acme --sandbox --strict`);
  expect(strict).toMatchObject({ submitted: 0, rejected: 1, warnings: [] });
  for (const words of warnings) expect(JSON.stringify(strict.reasons)).toContain(words);
  const sent = await summaryOf(`activations submit ${file} --partner acme --sandbox`);
  expect(sent).toMatchObject({ submitted: 2, rejected: 0 });
  expect(sent.warnings.map(({ rows }: { rows: number }) => rows)).toEqual([1, 1, 1]);
  for (const words of warnings) expect(JSON.stringify(sent.warnings)).toContain(words);
});

test("passports: an expired one is warned of; two holders of one number are refused", async () => {
  const { write, run, summaryOf, rejected } = await setUp();
  const into = "--partner acme --sandbox";
  const expired = write("old.csv", [PEOPLE, "Zoe,Quennell,1964-12-31,L1001,GBR,2020-01-01"]);
  const shown = await run(`passports import ${expired} ${into}`);
  expect(shown).toMatchObject({ exitCode: 0 });
  expect(shown.stdout).toMatch(/rows +warning +.*\n +1 +passport_expiry is in the past/);
  const two = write("two.csv", [
    PEOPLE,
    "Ann,Able,1980-01-02,AA 111,GBR,2034-01-01",
    "Bob,Baker,1981-01-02,AA111,United Kingdom,2034-01-01",
    "Cee,Clear,1982-01-02,CC333,GBR,2034-01-01",
    "Cee,Clear,1982-01-02,cc-333,GB,2034-01-01",
  ]);
  expect(await summaryOf(`passports import ${two} ${into}`)).toMatchObject({ imported: 1, duplicates: 1, rejected: 2 });
  expect(rejected("two.csv").match(/passport_no has other identity fields on lines 2 and 3/g)).toHaveLength(2);
  const later = write("later.csv", [PEOPLE, "Cee,Clearer,1982-01-02,CC333,GBR,2034-01-01"]);
  expect(await summaryOf(`passports import ${later} ${into}`)).toMatchObject({ duplicates: 0, rejected: 1 });
  expect(rejected("later.csv")).toContain("passport_no is in the pool with another last_name");
});

test("passports: a holder with one name has - as last_name, and words for no value are warned of", async () => {
  const { write, summaryOf } = await setUp();
  const file = write("people.csv", [
    PEOPLE,
    "Sukarno,,1964-12-31,L1001,IDN,2034-01-01",
    "Sukarno,-,1964-12-31,L1002,IDN,2034-01-01",
    "NULL,Quennell,1964-12-31,L1003,GBR,2034-01-01",
    "Zoe,Quennell,44986,L1004,GBR,2034-01-01",
    "Zoe,Quennell,1964-12-31 00:00:00,L1005,GBR,2034-01-01",
  ]);
  const { imported, reasons, warnings } = await summaryOf(`passports import ${file} --partner acme --sandbox`);
  expect(imported).toBe(2);
  const words = reasons.map(({ reason }: { reason: string }) => reason).join("\n");
  expect(words).toContain("last_name is required: a holder with one name has it as first_name, and - as last_name");
  expect(words).toContain("is a spreadsheet's day number: format the column as a date");
  expect(words).toContain("must be a real date as YYYY-MM-DD, without a time");
  expect(warnings).toMatchObject([{ reason: expect.stringContaining("first_name is a word for no value"), rows: 1 }]);
});

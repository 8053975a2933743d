import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockDataDirectory } from "../src/core/platform/data-directory.ts";
import { demoData } from "./support/installation.ts";
import { forAllTests } from "./support/owner.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

/** A demo installation for all tests of this file: its partner `demo` has an agent record, stock and funds. */
const installation = forAllTests(async (owner) => {
  const folder = temporaryDirectory(owner);
  return { folder, ...(await demoData(folder)) };
});

function run(line: string) {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  return esimctl([...words, "--data", installation().data], { cwd: installation().folder });
}

async function json(line: string, exitCode = 0) {
  const ended = await run(`${line} --json`);
  expect([line, ended.exitCode, ended.stderr]).toEqual([line, exitCode, expect.any(String)]);
  return JSON.parse(ended.stdout);
}

function file(name: string, content: string | Buffer | string[]) {
  const text = Array.isArray(content) ? `${content.join("\n")}\n` : content;
  writeFileSync(join(installation().folder, name), text);
}

const ACTING = "--partner demo --sandbox";
const HEAD = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";
const IDENTITY = ["Quennell", "31/12/1964", "342075096", "Zoë"];

const imports = [
  ["passports import", "passport_country*", ACTING],
  ["activations submit", "activation_date*", ACTING],
  ["activations cancel --file", "activation_id or iccid"],
  ["activations reschedule --file", "requested_activation_date"],
  ["stock import", "smdp_address and matching_id, or activation_code", "--sku ES-EU-5GB-30D"],
  ["esims usage import", "used_mb*"],
  ["orders bulk", "external_order_id*", "--partner demo"],
  ["products import", "price_cents, or price"],
  ["passports verify --file", "result*"],
  ["prices import", "sku, or region"],
] as const;

describe("every command that reads CSV", () => {
  test("lists its columns in its help and in the manual, and takes its own template", async () => {
    const manual = (await run("help --man")).stdout;
    expect(manual.match(/^\.B\nColumns$/gm)).toHaveLength(imports.length);
    for (const [line, columns, rest] of imports) {
      const verb = line.replace(/ --file| import$(?<=usage import)/, "");
      expect([line, (await run(`${verb} --help`)).stdout]).toEqual([line, expect.stringContaining(columns)]);
      const named = verb === "esims usage" ? "esims usage import" : verb;
      const template = await run(`${named} --template`);
      expect([line, template.exitCode, template.stderr]).toEqual([line, 0, ""]);
      expect(template.stdout.split("\n")).toHaveLength(2);
      const document = await json(`${named} --template`);
      expect(Object.keys(document.example).join(",")).toBe(template.stdout.split("\n")[0]);
      if (rest === undefined) continue;
      file("template.csv", `${template.stdout}\n`);
      const taken = await json(`${named} template.csv --dry-run ${rest}`);
      expect(taken).toMatchObject({ rejected: 0, reasons: [] });
    }
  });
});

describe("findings about a file", () => {
  test("reasons are grouped with a count and the first row, dates lead to --dates, and no value is shown", async () => {
    const rows = Array.from({ length: 4 }, (_, at) => `Zoë,Quennell,31/12/1964,34207509${at},GBR,2034-01-01`);
    file("people.csv", [HEAD, ...rows, "Zoë,Quennell,1964-12-31,342075096,XX,01/13/2034"]);
    const line = `passports import people.csv --dry-run ${ACTING}`;
    const found = await json(line, 1);
    expect(found).toMatchObject({ read: 5, rejected: 5 });
    expect(found.reasons).toEqual([
      {
        reason: "date_of_birth must be a real date as YYYY-MM-DD",
        rows: 4,
        example: { line: 2, column: "date_of_birth", form: "99/99/9999" },
      },
      {
        reason: "passport_country must be an ISO 3166-1 country code such as GBR, or a country's English name",
        rows: 1,
        example: { line: 6, column: "passport_country", form: "AA" },
      },
      {
        reason: "passport_expiry must be a real date as YYYY-MM-DD",
        rows: 1,
        example: { line: 6, column: "passport_expiry", form: "99/99/9999" },
      },
    ]);
    // Some are day first, one is month first: the user has to decide.
    expect(found.suggestions).toEqual(["5 rows: dates are not written as YYYY-MM-DD. Add --dates dmy, mdy or ymd."]);
    const shown = await run(line);
    expect(shown.stdout).toMatch(/rows +why +first on line +written like\n +4 +date_of_birth must/);
    for (const secret of IDENTITY)
      expect(`${shown.stdout}${shown.stderr}${JSON.stringify(found)}`).not.toContain(secret);
    file("people.csv", [HEAD, ...rows]);
    expect((await json(line, 1)).suggestions).toEqual([
      "4 rows: dates are not written as YYYY-MM-DD. Add --dates dmy.",
    ]);
    expect(await json(`${line} --dates dmy`)).toMatchObject({ rejected: 0, suggestions: [] });
    expect(await json(`${line} --dates mdy`, 1)).toMatchObject({
      rejected: 4,
      suggestions: [expect.stringContaining("--dates dmy")],
    });
  });

  test("numbers that a spreadsheet spoiled and zeros that it dropped are named", async () => {
    file("people.csv", [
      `${HEAD},state,postcode`,
      "Ada,Quennell,1964-12-31,6.13014E+08,GBR,2034-01-01,NT,800",
      "Bo,Quennell,1964-12-31,42075096,GBR,2034-01-01,NSW,2042",
      "Cy,Quennell,1964-12-31,C1234567,DEU,2034-01-01,,1067",
    ]);
    const found = await json(`passports import people.csv --dry-run ${ACTING}`, 3);
    expect(found).toMatchObject({ read: 3, rejected: 1 });
    expect(found.suggestions).toEqual([
      expect.stringMatching(
        /^1 row: a spreadsheet turned a number into .* 6\.13014E\+08 \(first on line 2, column passp/,
      ),
      "2 rows: the postcode is shorter than those of its country (first on line 2, column postcode). " +
        "Leading zeros may be lost.",
      "1 row: the passport number is shorter than those of its country (first on line 3, column passport_no). " +
        "Leading zeros may be lost.",
    ]);
  });

  test("sep=; and other common names of columns are accepted; --map names any other", async () => {
    const row = "Ada;Quennell;1964-12-31;C1234568;DEU;2034-01-01";
    file("people.csv", [
      "sep=;",
      "Given Name;SURNAME;D.O.B.;Passport Number;passport-country;Date of expiry",
      row,
      "x",
    ]);
    const line = `passports import people.csv --dry-run ${ACTING}`;
    const found = await run(line);
    expect(found.stderr).toContain('people.csv: column "D.O.B." is read as date_of_birth.');
    const [fault] = (await json(line, 3)).reasons;
    expect(fault).toMatchObject({
      reason: "has 1 field where the header has 6: it ends before SURNAME",
      example: { line: 4 },
    });
    file("people.csv", ["first_name;last_name;Geburtstag;passport_no;passport_country;passport_expiry", row]);
    const refused = await run(line);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("lacks date_of_birth")]);
    expect(refused.stderr).toContain('--map "THEIR NAME=date_of_birth"');
    expect(await json(`${line} --map "Geburtstag=date_of_birth"`)).toMatchObject({ read: 1, rejected: 0 });
    const several = '--map "Geburtstag=date_of_birth" --map "first_name=last_name" --map "last_name=first_name"';
    expect(await json(`${line} ${several}`)).toMatchObject({ rejected: 0 });
    expect((await run(`${line} --map Geburtstag`)).exitCode).toBe(2);
    expect((await run(`${line} --map "Birthday=date_of_birth"`)).stderr).toContain('there is no column "Birthday"');
    expect((await run(`${line} --map "Geburtstag=shoe_size"`)).stderr).toContain('"shoe_size", which is not read here');
    file("people.csv", [`${HEAD},dob,birthday`.replace("date_of_birth,", ""), "A,B,C1,DEU,2034-01-01,x,y"]);
    expect((await run(line)).stderr).toContain('columns "dob" and "birthday" may both be date_of_birth');
  });

  test("another encoding is named by --encoding, and UTF-8 is not read as one", async () => {
    const text = `${HEAD}\nZoë,Quennell,1964-12-31,C7654321,DEU,2034-01-01\n`;
    const line = `passports import people.csv ${ACTING}`;
    file("people.csv", Buffer.from(text, "latin1"));
    const refused = await run(line);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("--encoding windows-1252")]);
    expect(await json(`${line} --encoding windows-1252`)).toMatchObject({ imported: 1 });
    const { records } = await json(`passports list ${ACTING} --passport-no C7654321`);
    expect(records).toMatchObject([{ first_name: "Zoë" }]);
    file("people.csv", Buffer.from(`\ufeff${text}`, "utf16le"));
    expect((await run(line)).stderr).toContain("--encoding utf-16le");
    expect(await json(`${line} --encoding utf-16le`)).toMatchObject({ duplicates: 1 });
    file("people.csv", text);
    expect((await run(`${line} --encoding windows-1252`)).stderr).toContain("this is UTF-8 already");
    expect((await run(`${line} --encoding klingon`)).exitCode).toBe(2);
  });

  test("a file of changes has its reasons too", async () => {
    file("cancel.csv", ["activation_id", "nonsense", "more nonsense"]);
    expect(await json(`activations cancel --file cancel.csv --yes ${ACTING}`, 1)).toMatchObject({
      rejected: 2,
      reasons: [{ reason: "activation_id is not an id", rows: 2, example: { line: 2, form: "AAAAAAAA" } }],
    });
  });
});

describe("passports on local data", () => {
  const line = (row: number, name = "Quennell") => `Zoë,${name},1964-12-31,L${1_000 + row},GBR,2034-01-01`;

  /** As a daemon that serves the installation. */
  async function whileServed<T>(work: () => Promise<T>): Promise<T> {
    const release = lockDataDirectory(installation().data);
    return work().finally(release);
  }

  test("say why a file cannot be opened", async () => {
    symlinkSync(join(installation().folder, "loop.csv"), join(installation().folder, "loop.csv"));
    for (const path of ["loop.csv", "absent.csv", "."]) {
      const { error } = await json(`passports import ${path} ${ACTING}`, 1);
      expect([path, error.code]).toEqual([path, "csv_unreadable"]);
    }
  });

  test("a file of several transactions is imported in its order, and again without effect", async () => {
    const rows = Array.from({ length: 1_100 }, (_, row) => line(row));
    file("many.csv", [HEAD, ...rows, line(7), line(1_099)]);
    const imported = await whileServed(() => json(`passports import many.csv ${ACTING}`));
    expect(imported).toMatchObject({ read: 1_102, imported: 1_100, duplicates: 2, rejected: 0 });
    for (const number of ["L1007", "L2099"]) {
      const { records } = await json(`passports list ${ACTING} --passport-no ${number}`);
      expect(records).toMatchObject([{ passport_no: number, last_name: "Quennell" }]);
    }
    expect(await json(`passports import many.csv ${ACTING}`)).toMatchObject({ imported: 0, duplicates: 1_102 });
  });

  test("beside a daemon a transaction has 500 passports, and else more", async () => {
    const rows = Array.from({ length: 700 }, (_, row) => line(row));
    const notes = async (partner: string) => {
      await run(`partners create ${partner} --name ${partner} --agent`);
      file(`${partner}.csv`, [HEAD, ...rows]);
      await json(`passports import ${partner}.csv --partner ${partner} --sandbox`);
      const { data } = await json(`audit list --target ${partner}`);
      const imports = data.filter((one: { action: string }) => one.action === "passports.import");
      return imports.map((one: { note: string }) => one.note).toReversed();
    };
    expect(await notes("quiet")).toEqual(["700 imported, 0 duplicates"]);
    expect(await whileServed(() => notes("served"))).toEqual([
      "500 imported, 0 duplicates",
      "200 imported, 0 duplicates",
    ]);
  });

  test("a pool that may not hold all takes whole transactions, and says why it takes no more", async () => {
    await run("partners create small --name Small --agent");
    await run("partners update small --max-pool 600");
    file("full.csv", [HEAD, ...Array.from({ length: 700 }, (_, row) => line(row))]);
    const full = await whileServed(() => run("passports import full.csv --partner small --sandbox"));
    expect([full.exitCode, full.stderr]).toEqual([1, expect.stringContaining("at most 600 passports")]);
    const { count } = await json("passports list --partner small --sandbox --all");
    expect(count).toBe(500);
  });

  test("a partner without an agent record has no pool", async () => {
    await run("partners create alone --name Alone");
    file("one.csv", [HEAD, line(1)]);
    const refused = await run("passports import one.csv --partner alone --sandbox");
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("agent record")]);
  });
});

describe("orders", () => {
  test("a dry run adds up wallet, stock and travelers of the whole file", async () => {
    const head = "order id,sku,qty,email,customer";
    const order = (id: string, sku: string, quantity: number) => `${id},${sku},${quantity},ada@example.com,Ada`;
    file("orders.csv", [head, order("A", "ES-EU-5GB-30D", 2), order("B", "ES-EU-5GB-30D", 1), order("C", "NONE", 1)]);
    const fine = await json("orders bulk orders.csv --dry-run --partner demo", 3);
    expect(fine).toMatchObject({
      rejected: 1,
      reasons: [{ rows: 1, example: { line: 4 } }],
      dry_run: { orders: 2, units: 3, stock: [{ sku: "ES-EU-5GB-30D", needed: 3, short: 0 }], travelers: [] },
    });
    const [total] = fine.dry_run.totals;
    expect(total).toMatchObject({ currency: "AUD", shortfall_cents: 0, balance_cents: expect.any(Number) });
    const dear = Math.ceil((total.balance_cents / total.total_cents) * 3) + 1;
    file("orders.csv", [head, order("A", "ES-EU-5GB-30D", dear), order("B", "EM-MG-8GB-30D", 1)]);
    const short = await json("orders bulk orders.csv --dry-run --partner demo", 3);
    expect(short.dry_run.totals[0].shortfall_cents).toBeGreaterThan(0);
    expect(short.dry_run.stock[0]).toMatchObject({ needed: dear, short: expect.any(Number) });
    expect(short.dry_run.travelers).toEqual([{ external_order_id: "B", sku: "EM-MG-8GB-30D", needed: 1, given: 0 }]);
    const shown = await run("orders bulk orders.csv --dry-run --partner demo");
    expect(shown.stdout).toMatch(/in the wallet: [\d.]+ AUD short\n.* in stock: \d+ short.*\nB: EM-MG-8GB-30D needs 1/);
    const sandbox = await json(`orders bulk orders.csv --dry-run ${ACTING}`, 3);
    expect(sandbox.dry_run).toMatchObject({ stock: [], totals: [{ balance_cents: null, shortfall_cents: 0 }] });
    expect(await json("orders list --partner demo")).toMatchObject({ data: [] });
  });

  test("create orders scheduled products", async () => {
    const create = `orders create ${ACTING} --product EM-MG-8GB-30D --quantity 1`;
    const bare = await run(create);
    expect([bare.exitCode, bare.stderr]).toEqual([2, expect.stringContaining("Add --name, --email, --date.")]);
    const traveler = '--name "Ada L" --email ada@example.com --date 2031-01-01 --timezone Australia/Sydney';
    const { id } = await json(`${create} ${traveler}`);
    expect(await json(`orders show ${id} ${ACTING}`)).toMatchObject({ line_items: [{ quantity: 1 }] });
    const several = await run(`orders create ${ACTING} --product EM-MG-8GB-30D --quantity 2 ${traveler}`);
    expect([several.exitCode, several.stderr]).toEqual([2, expect.stringContaining("2 units need 2")]);
    const other = await run(`orders create ${ACTING} --product ES-EU-5GB-30D --quantity 1 --name Ada`);
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining("--name does not apply")]);
    expect((await run(`${create} ${traveler} --date 2031-02-30`)).exitCode).toBe(2);
    const none = await run(`orders create ${ACTING} --quantity 1`);
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("'--product <sku-or-id>' not specified")]);
  });
});

test("a rejected file keeps the values as they were", async () => {
  file("people.csv", [HEAD, "Zoë,Quennell,31/12/1964,C1,GBR,2034-01-01"]);
  const { rejected_file } = await json(`passports import people.csv ${ACTING} --dates mdy`, 1);
  expect(readFileSync(join(installation().folder, rejected_file), "utf8")).toContain("31/12/1964");
});

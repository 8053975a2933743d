import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Chalk } from "chalk";
import { expect, test } from "vitest";
import { terminalText } from "../src/cli/output/clean.ts";
import { fitHeight } from "../src/cli/output/live-screen.ts";
import { progressLook } from "../src/cli/output/progress.ts";
import { drawQr, showQr } from "../src/cli/output/qr.ts";
import type { Column, Sheet } from "../src/cli/output/sheet.ts";
import { drawFields, drawTable, openTable } from "../src/cli/output/table.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

interface Row {
  id: string;
  name: string | null;
}

const columns: Column<Row>[] = [
  { title: "id", value: (row) => row.id },
  { title: "name", value: (row) => row.name, shrinks: true },
];

function sheetOf(width: number, level: 0 | 1 = 0): Sheet {
  const sheet: Sheet = {
    paint: new Chalk({ level }),
    width,
    table: (...args) => drawTable(sheet, ...args),
    fields: (record) => drawFields(sheet, record),
    money: String,
  };
  return sheet;
}

const rows: Row[] = [
  { id: "0190d3c2-7b4e-7cc1", name: "東京と大阪を旅するあなたへの長い名前のプラン" },
  { id: "0190d3c2-7b4e-7cc2", name: "a plain name of some length, to be cut" },
];

test("a wide terminal shows every column, aligned by the width of characters", () => {
  expect(sheetOf(200).table(columns, rows, "none").split("\n")).toEqual([
    "id                  name",
    "0190d3c2-7b4e-7cc1  東京と大阪を旅するあなたへの長い名前のプラン",
    "0190d3c2-7b4e-7cc2  a plain name of some length, to be cut",
  ]);
});

test("a narrow terminal truncates names, never ids", () => {
  const lines = sheetOf(40).table(columns, rows, "none").split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^0190d3c2-7b4e-7cc1 {2}東京.*…$/);
  expect(lines[2]).toMatch(/^0190d3c2-7b4e-7cc2 {2}a plain name.*…$/);
  expect(lines[2]?.length).toBeLessThanOrEqual(40);
});

test("a terminal too narrow for a table shows each row as a card", () => {
  const fits = sheetOf(25).table(columns, [{ id: "0190d3c2-7b4e-7cc1", name: null }], "none");
  expect(fits.split("\n")).toEqual(["id                  name", "0190d3c2-7b4e-7cc1  -"]);
  const stacked = sheetOf(25).table(columns, rows, "none");
  expect(stacked.split("\n").slice(0, 2)).toEqual(["id    0190d3c2-7b4e-7cc1", `name  ${rows[0]?.name}`]);
});

test("values that must not be truncated wrap, and optional columns are left out first", () => {
  const why = "stock is short (ES-EU-20GB-30D: 4 needed, 3 in stock)";
  const columns: Column<{ why: string }>[] = [
    { title: "number", value: () => "ORD-20260301-7KQ2M" },
    { title: "why", value: (row) => row.why, wraps: true },
    { title: "id", value: () => "0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c", spare: true },
  ];
  const at = (width: number) => sheetOf(width, 1).table(columns, [{ why }], "none").split("\n");
  expect(at(90).map(stripVTControlCharacters)).toEqual([
    "number              why                               id",
    "ORD-20260301-7KQ2M  stock is short (ES-EU-20GB-30D:   0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c",
    "                    4 needed, 3 in stock)",
  ]);
  expect(at(80).map(stripVTControlCharacters)).toEqual(["number              why", `ORD-20260301-7KQ2M  ${why}`]);
  expect(at(30).map(stripVTControlCharacters)).toEqual([
    "number  ORD-20260301-7KQ2M",
    "why     stock is short",
    "        (ES-EU-20GB-30D: 4",
    "        needed, 3 in stock)",
    "id      0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c",
  ]);
});

test("from 60 columns on rows are a table, with any content; below, cards that do not break words", () => {
  const id = "0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c";
  const columns: Column<{ why: string }>[] = [
    { title: "id", value: () => id },
    { title: "other id", value: () => id },
    { title: "why", value: (row) => row.why, wraps: true },
  ];
  const at = (width: number) => sheetOf(width).table(columns, [{ why: `see https://${"x".repeat(70)}` }], "none");
  const table = at(60).split("\n");
  expect(table[0]).toMatch(/^id +other id +why$/);
  for (const line of table) expect(line.length).toBeLessThanOrEqual(60);
  expect(at(59).split("\n")).toEqual([
    `id        ${id}`,
    `other id  ${id}`,
    "why       see",
    `          https://${"x".repeat(70)}`,
  ]);
});

test("times lose their seconds before columns are left out, and optional columns that fit stay", () => {
  const columns: Column<{ at: string }>[] = [
    { title: "iccid", value: () => "8944500102198304826" },
    { title: "at", value: (row) => row.at },
    { title: "id", value: () => "0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c", spare: 1 },
    { title: "kind", value: () => "sim", spare: true },
  ];
  const at = (width: number) =>
    sheetOf(width)
      .table(columns, [{ at: "2026-03-01 12:30:05Z" }], "none")
      .split("\n");
  expect(at(120)[1]).toContain("2026-03-01 12:30:05Z");
  expect(at(83)[1]).toMatch(/2026-03-01 12:30Z {2}0190.* {2}sim$/);
  expect(at(80)[1]).toMatch(/2026-03-01 12:30Z {2}0190\S+$/);
  expect(at(60)[1]).toBe("8944500102198304826  2026-03-01 12:30Z  sim");
});

test("a table that is drawn page by page keeps its columns, and widens them for later rows", () => {
  const table = openTable(sheetOf(Number.POSITIVE_INFINITY), columns, [{ id: "1", name: "Ada" }]);
  expect(table.head).toBe("id  name");
  expect(table.draw([{ id: "1", name: "Ada" }])).toBe("1   Ada");
  expect(table.draw([{ id: "1000", name: "Grace" }])).toBe("1000  Grace");
  expect(table.draw([{ id: "2", name: null }])).toBe("2     -");
  const narrow = openTable(sheetOf(40), columns, [{ id: "1", name: "Ada" }]);
  const [line = ""] = narrow.draw(rows.slice(1)).split("\n");
  expect(line).toMatch(/^0190d3c2-7b4e-7cc2 {2}a plain.*…$/);
  expect(line.length).toBeLessThanOrEqual(40);
});

test("progress fits the terminal: the bar shrinks, the numbers stay", () => {
  expect(progressLook(200, 100)).toMatchObject({ barsize: 40, format: expect.stringContaining("{bar}") });
  expect(progressLook(80, 100)).toMatchObject({ barsize: 22, format: expect.stringContaining("{bar}") });
  const narrow = progressLook(60, 100).format;
  expect(narrow).not.toContain("{bar}");
  for (const part of ["{value} of {total}", "{rate}/s", "{eta_formatted} left"]) expect(narrow).toContain(part);
  expect(progressLook(60, null).format).toContain("{value}");
});

test("a window too low for the whole screen shows that there is more", () => {
  const screen = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`).join("\n");
  expect(fitHeight(screen, 40)).toEqual([...screen.split("\n"), "", "q or Ctrl-C ends"]);
  expect(fitHeight(screen, 10).slice(-2)).toEqual(["line 8", "… 4 more lines: enlarge the window. q or Ctrl-C ends"]);
  for (const rows of [13, 14, 15, 16]) expect(fitHeight(screen, rows).length).toBeLessThan(rows);
});

test("an empty list prints a sentence", () => {
  expect(sheetOf(80).table(columns, [], "No orders.")).toBe("No orders.");
});

test("text from outside has no control sequences on a terminal", () => {
  const text = sheetOf(80).table(columns, [{ id: "1", name: "\u001b[2Jred\u0007\nline\u202e" }], "none");
  expect(text.split("\n")[1]).toBe("1   red line");
});

test("a QR code is dark on light with colors, and light on dark without", async () => {
  const drawn = await drawQr("LPA:1$rsp.example.com$ABC-1");
  const painted = showQr(sheetOf(80, 1), drawn).split("\n");
  // The quiet zone: white only.
  expect(stripVTControlCharacters(painted[0] ?? "")).toMatch(/^ +$/);
  expect(painted[0]).toContain("[107m");
  expect(showQr(sheetOf(80), drawn).split("\n")[0]).toMatch(/^█+$/);
});

/** What a terminal obeys or hides: C0, C1, directions, zero width, separators, tags. */
const HIDDEN = "a\u001b]0;t\u0007\u009b2J\u202eb\u2066\u200b\u200f\u061c\u2028\ufeff\u{e0041}c";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const OBEYED = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

test("text from outside reaches a terminal without hidden characters, and --json as the same value", async () => {
  const shop = await openShop({ folder: temporaryDirectory(), stock: { EU5: 1 }, priceCents: 100, fundsCents: 1000 });
  const file = join(temporaryDirectory(), "products.json");
  const product = { sku: "HID", name: HIDDEN, region: "Europe", coverage: ["FR"], data_amount_mb: 1, validity_days: 1 };
  const terms = { price_cents: 1, currency: "EUR", type: "data_only", product_type: "esim_qr_pregen" };
  const delivery = { delivery_method: "stock", description: HIDDEN };
  writeFileSync(file, JSON.stringify([{ ...product, ...terms, ...delivery }]));
  const at = ["--data", shop.data];
  const imported = await esimctl(["products", "import", file, ...at]);
  expect(imported.exitCode, imported.stdout + imported.stderr).toBe(0);
  for (const line of ["products list", "products show HID", "catalog export --format generic --as json"]) {
    for (const extra of [[], ["--json"]]) {
      const shown = await esimctl([...line.split(" "), "--partner", "acme", ...at, ...extra]);
      expect(shown.exitCode, line).toBe(0);
      expect(shown.stdout, line).toContain("HID");
      expect(shown.stdout, line).not.toMatch(OBEYED);
    }
  }
  const whole = Object(await esimctlJson(["products", "show", "HID", "--partner", "acme", ...at]));
  expect([whole.name, whole.description]).toEqual([HIDDEN, HIDDEN]);
  for (const extra of [[], ["--json"], ["--verbose"]]) {
    const failed = await esimctl(["products", "show", HIDDEN, "--partner", "acme", ...at, ...extra]);
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout + failed.stderr).not.toMatch(OBEYED);
  }
});

test("of drawn output only lines and colors are kept", () => {
  const red = "\u001b[31mred\u001b[39m";
  expect(terminalText(`${red}\n\u001b[2J\u001b]8;;x\u0007y\r\u202ez`, { colors: true })).toBe(`${red}\n [2J ]8;;x y z`);
  expect(terminalText(`${red}\n\u001b[2Jy`, { colors: false })).toBe("red\ny");
});

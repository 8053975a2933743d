import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { allSections, pagesWithSections, sectionNames, withSections } from "../scripts/docs-sections.ts";
import { machineTable } from "../scripts/state-tables.ts";
import { root } from "./support/sources.ts";

const made = pagesWithSections.map((page) => readFileSync(join(root, page), "utf8"));
const pages = ["README.md", "CHANGELOG.md", "SECURITY.md", ...markdownUnder("docs")];

test("the tables of transitions and events match the code (npm run docs makes them)", () => {
  for (const page of made) expect(withSections(page)).toBe(page);
  expect(made.flatMap(sectionNames).sort()).toEqual([...allSections].sort());
});

test("a transition without a description, or a description without a transition, is refused", () => {
  const table = { on: ["off"], off: [] };
  const begins = { on: "it is made" };
  expect(machineTable({ table, begins, occasions: { "on → off": "it is switched off" } })).toContain(
    "| `on` | `off` | it is switched off |",
  );
  expect(() => machineTable({ table, begins, occasions: {} })).toThrow("on → off");
  expect(() => machineTable({ table, begins, occasions: { "on → off": "-", "off → on": "-" } })).toThrow("off → on");
});

test("every link between pages leads to a file, and to a heading where it names one", () => {
  expect(pages.flatMap((page) => brokenLinks(page))).toEqual([]);
});

test("every source file that a page, or a comment of the code, names is there", () => {
  const files = ["src", "test", "scripts"].flatMap((folder) => filesUnder(folder, /\.(ts|mjs)$/));
  const isThere = (name: string) =>
    existsSync(join(root, name)) || files.some((file) => file === name || file.endsWith(`/${name}`));
  const inPages = pages
    .filter((page) => page !== "CHANGELOG.md")
    .map((page) => ({ page, pattern: /`([\w./-]+\.(?:ts|mjs))`/g }));
  const inCode = filesUnder("src", /\.ts$/).map((page) => ({
    page,
    pattern: /^\s*(?:\/?\*|\/\/).*?\b([\w/-]+\.ts)\b/g,
  }));
  const gone = [...inPages, ...inCode].flatMap(({ page, pattern }) =>
    readFileSync(join(root, page), "utf8")
      .split("\n")
      .flatMap((line) => Array.from(line.matchAll(pattern), ([, name = ""]) => name))
      .filter((name) => !isThere(name))
      .map((name) => `${page}: ${name}`),
  );
  expect(gone).toEqual([]);
});

test("every promise of the threat model names the tests that show it, and all of them exist", () => {
  const page = readFileSync(join(root, "docs/security.md"), "utf8");
  const [, promises = ""] = page.split(/^## (?:Promises|Not promised)$/m);
  const rows = promises.split("\n").filter((line) => /^\| (?!promise |---)/.test(line));
  expect(rows.length).toBeGreaterThan(40);
  for (const row of rows) {
    const named = [...(row.split("|").at(-2) ?? "").matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path);
    expect(named.length, row).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  }
});

test.each([
  ["README.md", 300],
  ["docs/architecture.md", 120],
  ["docs/performance.md", 200],
] as const)("%s is read in one go: it has at most %i lines", (path, most) => {
  expect(readFileSync(join(root, path), "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(most);
});

test("every decision has one form, and the index has its title", () => {
  const folder = join(root, "docs/decisions");
  const index = readFileSync(join(folder, "README.md"), "utf8");
  const decisions = readdirSync(folder).filter((name) => /^\d{4}-/.test(name));
  expect(index.match(/^\| \[\d{4}\]/gm)).toHaveLength(decisions.length);
  for (const name of decisions) {
    const text = readFileSync(join(folder, name), "utf8");
    const [number, title] = /^# (\d{4}): (.+)$/m.exec(text)?.slice(1) ?? [];
    expect(
      [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
      name,
    ).toEqual(["Context", "Decision", "Consequences"]);
    expect(index).toContain(`| [${number}](${name}) | ${title} | `);
  }
});

test("the newest release of the changelog is the version of the package, with a date", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  expect([locked.version, locked.packages[""].version]).toEqual([version, version]);
  const headings = readFileSync(join(root, "CHANGELOG.md"), "utf8").match(/^## .+$/gm) ?? [];
  const [newest] = headings.filter((heading) => heading !== "## [Unreleased]");
  expect(newest).toMatch(new RegExp(`^## \\[${version.replaceAll(".", "\\.")}\\] - \\d{4}-\\d{2}-\\d{2}$`));
});

function markdownUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

function brokenLinks(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => !leadsSomewhere(page, link)).map((link) => `${page}: ${link}`);
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || headings(readFileSync(join(root, target), "utf8")).includes(heading);
}

/** Headings as the addresses that hosts of Markdown make of them. */
function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, words = ""]) =>
    words
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function filesUnder(folder: string, named: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => named.test(name) && !name.includes("node_modules"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, type Statement, SyntaxKind } from "typescript/unstable/ast";
import { isCallExpression } from "typescript/unstable/ast/is";
import { describe, expect, test } from "vitest";
import { lineOf, madeUpSources, readSources, root, type Source, walk } from "./support/sources.ts";
import { breaches, tidyRules } from "./support/tidy-rules.ts";

const sources = readSources();
const examples = madeUpSources(
  Object.fromEntries(tidyRules.map(({ example: [path, text] }, at) => [named(path, at), text])),
);

describe("sizes", () => {
  test("no file is longer than 400 lines, and most are under 200", () => {
    const long = sources.filter(({ lines }) => lines.length > 200);
    console.info(`${long.length} of ${sources.length} files are over 200 lines`);
    expect(long.filter(({ lines }) => lines.length > 400).map(({ path, lines }) => `${path}: ${lines.length}`)).toEqual(
      [],
    );
    expect(long.length / sources.length).toBeLessThan(0.1);
  });

  test("no line is longer than 120 characters", () => {
    const long = eachLine(sources, (line) => line.length > 120);
    expect(long).toEqual([]);
  });

  test("no function is longer than 60 lines", () => {
    expect(sources.flatMap((source) => longFunctions(source, 60))).toEqual([]);
  });

  test("a function is measured from its first to its last line; a group of tests is none", () => {
    const body = "\n  x();".repeat(60);
    const [long, group] = madeUpSources({
      "src/long.ts": `declare const x: () => void;\nexport function long() {${body}\n}\n`,
      "test/group.test.ts": `declare const describe: (f: () => void) => void;\ndescribe(() => {${body}\n});\n`,
    }).map((source) => longFunctions(source, 60));
    expect(long).toEqual(["src/long.ts:2: 62 lines"]);
    expect(group).toEqual([]);
  });
});

describe("what may not be in a source", () => {
  test.each(tidyRules)("nothing $name", (rule) => {
    expect(breaches(rule, sources)).toEqual([]);
  });

  test.each(tidyRules)("the example of what $name is found", (rule) => {
    const example = named(rule.example[0], tidyRules.indexOf(rule));
    expect(
      breaches(
        rule,
        examples.filter(({ path }) => path === example),
      ),
    ).not.toEqual([]);
  });

  test("no leftover notes and no silenced compiler", () => {
    const leftover = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX"].join("|")})\\b|@ts-(ignore|nocheck)`);
    expect(eachLine(sources, (line) => leftover.test(line) && !line.includes("const leftover ="))).toEqual([]);
  });

  test("no file of the repository names a machine's own path or a package registry", () => {
    const foreign = new RegExp(
      ["/wo" + "rk/", "/tmp/bri" + "efs", "regi" + "stry\\.(npmjs|yarnpkg)", "npm" + "mirror"].join("|"),
    );
    expect(repositoryFiles().filter((path) => foreign.test(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});

describe("files", () => {
  test("every file of src is imported by another one, or is an entry", () => {
    // Threads are started by their paths.
    const threads = [
      "src/daemon/pages/raster-thread.ts",
      "src/core/store/sqlite/checkpoint-thread.ts",
      "src/core/store/sqlite/damage-thread.ts",
      "src/core/accounts/hash-thread.ts",
      "src/daemon/writer/writer-thread.ts",
    ];
    const entries = ["src/cli/main.ts", "src/web/browser/app.ts", ...threads];
    const used = new Set(sources.filter(({ path }) => path.startsWith("src/")).flatMap(importedFiles));
    const dead = sources.filter(({ path }) => path.startsWith("src/") && !entries.includes(path) && !used.has(path));
    expect(dead.map(({ path }) => path)).toEqual([]);
  });

  test("every file of test/slow is tagged: no suite runs one that is not", () => {
    const files = sources.filter(({ path }) => /^test\/slow\/.*\.test\.ts$/.test(path));
    expect(files.length).toBeGreaterThan(20);
    // Spelled out, it would tag this file too.
    const tag = `/** @${"module-tag"} slow */`;
    expect(files.filter(({ lines }) => lines[0] !== tag).map(({ path }) => path)).toEqual([]);
  });

  test("no file only passes on what others export", () => {
    expect(sources.filter(isBarrel).map(({ path }) => path)).toEqual([]);
    expect(
      madeUpSources({ "src/index.ts": 'export { a } from "./a.ts";', "src/a.ts": "export const a = 1;" }).map(isBarrel),
    ).toContain(true);
  });
});

/** Each example in a file of its own, in the folder that its rule is about. */
function named(path: string, at: number): string {
  return path.replace("/a.", `/example-${at}.`);
}

function eachLine(all: Source[], breaks: (line: string) => boolean): string[] {
  return all.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (breaks(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 80)}`] : [])),
  );
}

// One line a column: a long function there is a table.
const tables = /^src\/core\/store\/schema\//;

const functions: SyntaxKind[] = [
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
];

function longFunctions({ path, tree }: Source, most: number): string[] {
  const found: string[] = [];
  if (tables.test(path)) return found;
  walk(tree, (node) => {
    if (!functions.includes(node.kind) || isGroupOfTests(node)) return;
    const first = lineOf(tree, node);
    const length = tree.getLineAndCharacterOfPosition(node.end).line + 2 - first;
    if (length > most) found.push(`${path}:${first}: ${length} lines`);
  });
  return found;
}

function isGroupOfTests({ parent }: Node): boolean {
  return isCallExpression(parent) && /^describe\b/.test(parent.expression.getText());
}

function importedFiles({ path, imports }: Source): string[] {
  return imports.flatMap(({ file }) => (file === null || file === path ? [] : [file]));
}

function isBarrel({ tree }: Source): boolean {
  const passesOn = (statement: Statement) =>
    statement.kind === SyntaxKind.ImportDeclaration || statement.kind === SyntaxKind.ExportDeclaration;
  const exports = tree.statements.some(({ kind }) => kind === SyntaxKind.ExportDeclaration);
  return exports && tree.statements.every(passesOn);
}

/** Text files of the checkout, without installed, built or generated ones. */
function repositoryFiles(): string[] {
  const apart = /^(dist|coverage|esimctl-data|\.git)(\/|$)|(^|\/)node_modules(\/|$)/;
  return readdirSync(root, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !apart.test(path) && !/\.(png|tgz|db|db-wal|db-shm)$/.test(path));
}

import { describe, expect, test } from "vitest";
import { madeUpSources, readSources, type Source } from "./support/sources.ts";

/** The floors of the source from the top down; a folder imports from floors below its own and from itself. */
const floors = [
  ["src/cli"],
  ["src/daemon/serve"],
  // Pages come from what core and the daemon offer; only serve has them.
  ["src/web"],
  ["src/web/pages"],
  ["src/web/parts"],
  ["src/web/session", "src/web/browser"],
  ["src/daemon/http", "src/daemon/routes", "src/daemon/workers"],
  ["src/daemon/pages"],
  ["src/daemon/openapi"],
  ["src/daemon/plugins"],
  ["src/daemon/gateways", "src/daemon/feed", "src/daemon/writer", "src/daemon/simulators"],
  ["src/daemon/schemas", "src/daemon/validation", "src/daemon/metrics", "src/daemon/log"],
  ["src/daemon/context"],
  ["src/core/alerts"],
  ["src/core/insight", "src/core/maintenance", "src/core/find", "src/core/erasure", "src/core/sandbox"],
  ["src/core/evidence"],
  ["src/core/credentials", "src/core/activations"],
  // What is sold of an order's eSIMs after it, and given back of them.
  ["src/core/topups", "src/core/after-sale"],
  // Responses of suppliers drive orders, which import nothing of suppliers.
  ["src/core/supplier-requests"],
  ["src/core/partners", "src/core/passports", "src/core/orders", "src/core/catalog/sync", "src/core/feed"],
  // What is bought where, and what it costs: orders and responses of suppliers rest on it.
  ["src/core/supply"],
  [
    "src/core/wallet",
    "src/core/catalog",
    "src/core/esims",
    "src/core/carriers",
    "src/core/suppliers",
    "src/core/webhooks",
  ],
  // What a partner pays: the catalog shows it, orders charge it.
  ["src/core/prices"],
  // What users do is audited.
  ["src/core/accounts"],
  ["src/core/audit", "src/core/outbox"],
  ["src/core/platform"],
  ["src/core/store/open"],
  ["src/core/store/sqlite", "src/core/store/postgres"],
  ["src/core/store/write", "src/core/store/migrations"],
  ["src/core/store/sealing"],
  ["src/core/store"],
  // The schema names the kinds of events.
  ["src/core/store/schema"],
  // What terminal and pages read of files that people send.
  ["src/core/events", "src/core/csv"],
  ["src/core/kernel"],
];

/** The floors within the command line; the files at its root are the top. */
const cliFloors = [
  ["src/cli"],
  ["src/cli/commands"],
  ["src/cli/demo", "src/cli/serve"],
  ["src/cli/bulk"],
  ["src/cli/frame"],
  ["src/cli/client", "src/cli/logs"],
  ["src/cli/place"],
  ["src/cli/output", "src/cli/csv"],
  ["src/cli/kernel"],
];

/** Packages that only these folders may name, and why it is theirs. */
const keepers: { packages: RegExp; within: RegExp; why: string }[] = [
  {
    packages: /^(better-sqlite3|pg|drizzle-orm\/(better-sqlite3|node-postgres|sqlite-core|pg-core))$/,
    within: /^src\/core\/(store\/|platform\/(data-directory|names)\.ts$)/,
    why: "only the store, the lock of the data directory and shell completion know the engine",
  },
  {
    packages: /^(fastify|@fastify\/.+|@scalar\/.+|prom-client|node-cron|nodemailer|undici)$/,
    within: /^src\/(daemon|web)\//,
    why: "HTTP, mail and the calendar are the daemon's, and HTTP the pages'",
  },
  {
    packages: /^(commander|@inquirer\/.+|chalk|cli-table3|cli-progress|env-paths)$/,
    within: /^src\/cli\//,
    why: "the terminal is the command line's",
  },
  {
    packages: /^csv-parse(\/.+)?$/,
    within: /^src\/core\/csv\//,
    why: "files of people are read in one place, for terminal and pages",
  },
  {
    packages: /^csv-stringify(\/.+)?$/,
    within: /^src\/(core\/csv|cli)\//,
    why: "files are written where formulas are guarded against, and the terminal's own shapes",
  },
  {
    packages: /^(pino(-pretty)?|node:(http|https|http2|net|tls|dgram|dns|child_process|readline|tty)(\/.+)?)$/,
    within: /^src\/(daemon|cli)\//,
    why: "core knows no network, no processes, no terminal and no log",
  },
];

const sources = readSources().filter(({ path }) => path.startsWith("src/"));
const cliSources = sources
  .filter(({ path }) => path.startsWith("src/cli/"))
  .map(({ imports, ...source }) => ({
    ...source,
    imports: imports.filter(({ file }) => file?.startsWith("src/cli/")),
  }));

describe("imports", () => {
  test("every file is on a floor", () => {
    expect(sources.filter(({ path }) => floorOf(path, floors) === null).map(({ path }) => path)).toEqual([]);
  });

  test("folders import only from floors below", () => {
    expect(climbing(sources, floors)).toEqual([]);
  });

  test("core uses the store's interface, schema, sealing and opening, and nothing else of it", () => {
    const open = /^src\/core\/store\/((schema|sealing|open)\/)?[^/]+$/;
    const core = sources.filter(({ path }) => path.startsWith("src/core/") && !path.startsWith("src/core/store/"));
    expect(
      core.flatMap(({ path, imports }) =>
        imports.flatMap(({ file, line }) =>
          file?.startsWith("src/core/store/") && !open.test(file) ? [`${path}:${line} imports ${file}`] : [],
        ),
      ),
    ).toEqual([]);
  });

  test("folders of the command line import only from floors below", () => {
    expect(climbing(cliSources, cliFloors)).toEqual([]);
  });

  test("every folder of the command line is on a floor, and its root holds only the entry", () => {
    const atRoot = cliSources.map(({ path }) => path).filter((path) => floorOf(path, cliFloors)?.floor === 0);
    expect(atRoot.sort()).toEqual(["main", "nouns", "run", "singles"].map((name) => `src/cli/${name}.ts`));
  });

  test("a noun imports nothing from another noun", () => {
    expect(
      climbing(
        cliSources.filter(({ path }) => nounOf(path) !== null),
        nounFloors(cliSources),
      ),
    ).toEqual([]);
  });

  test("an import upward within the command line and one across nouns are both found", () => {
    const made = madeUpSources({
      "src/cli/output/a.ts": 'import { b } from "../place/b.ts";\nexport const a = b;',
      "src/cli/place/b.ts": "export const b = 1;",
      "src/cli/commands/orders/c.ts": 'import { d } from "../stock/d.ts";\nexport const c = d;',
      "src/cli/commands/stock/d.ts": "export const d = 1;",
    });
    expect(climbing(made, cliFloors)).toEqual(["src/cli/output/a.ts:1 imports src/cli/place/b.ts"]);
    expect(climbing(made, nounFloors(made))).toContain(
      "src/cli/commands/orders/c.ts:1 imports src/cli/commands/stock/d.ts",
    );
  });

  test("an import upward and one across are both found", () => {
    const made = madeUpSources({
      "src/core/kernel/a.ts": 'import type { b } from "../orders/b.ts";\nexport type A = typeof b;',
      "src/core/orders/b.ts": 'export const b = 1;\nexport const c = () => import("../partners/c.ts");',
      "src/core/partners/c.ts": "export const c = 1;",
    });
    expect(climbing(made, floors).sort()).toEqual([
      "src/core/kernel/a.ts:1 imports src/core/orders/b.ts",
      "src/core/orders/b.ts:2 imports src/core/partners/c.ts",
    ]);
  });

  test("no import cycle, not even of types", () => {
    expect(circles(sources)).toEqual([]);
  });

  test("a cycle is found, whatever kind of import closes it", () => {
    const made = madeUpSources({
      "src/cli/a.ts": 'import { b } from "./b.ts";\nexport const a = b;',
      "src/cli/b.ts": 'export type A = import("./c.ts").C;\nexport const b = 1;',
      "src/cli/c.ts": 'import type { a } from "./a.ts";\nexport type C = typeof a;',
    });
    expect(circles(made)).toEqual(["src/cli/a.ts → src/cli/b.ts → src/cli/c.ts → src/cli/a.ts"]);
  });

  test.each(keepers)("$why", ({ packages, within }) => {
    expect(strangers(sources, packages, within)).toEqual([]);
  });
});

/** Floors from the top down, each with its folders. */
type Floors = readonly (readonly string[])[];

/** The floor of the innermost listed folder that holds the file. */
function floorOf(path: string, floors: Floors): { folder: string; floor: number } | null {
  const held = floors.flatMap((folders, floor) => folders.map((folder) => ({ folder, floor })));
  const holding = held.filter(({ folder }) => path.startsWith(`${folder}/`));
  return holding.sort((a, b) => b.folder.length - a.folder.length)[0] ?? null;
}

function climbing(all: Source[], floors: Floors): string[] {
  return all.flatMap(({ path, imports }) =>
    imports.flatMap(({ file, line }) =>
      file === null || isAllowed(path, file, floors) ? [] : [`${path}:${line} imports ${file}`],
    ),
  );
}

function isAllowed(from: string, to: string, floors: Floors): boolean {
  const [upper, lower] = [floorOf(from, floors), floorOf(to, floors)];
  // Outside src only package.json may be imported.
  if (upper === null || lower === null) return !to.startsWith("src/");
  return upper.folder === lower.folder || upper.floor < lower.floor;
}

function nounOf(path: string): string | null {
  return /^src\/cli\/commands\/[^/]+(?=\/)/.exec(path)?.[0] ?? null;
}

/** All nouns side by side, above the files that they share. */
function nounFloors(all: Source[]): Floors {
  return [[...new Set(all.flatMap(({ path }) => nounOf(path) ?? []))], ["src/cli"]];
}

/** Every import cycle, once each, from its first file in the order of names. */
function circles(all: Source[]): string[] {
  const targets = new Map(all.map(({ path, imports }) => [path, imports.flatMap(({ file }) => file ?? [])]));
  const done = new Set<string>();
  const found: string[] = [];
  const follow = (path: string, trail: string[]): void => {
    const before = trail.indexOf(path);
    if (before >= 0) found.push([...trail.slice(before), path].join(" → "));
    if (before >= 0 || done.has(path)) return;
    for (const next of targets.get(path) ?? []) follow(next, [...trail, path]);
    done.add(path);
  };
  for (const path of [...targets.keys()].sort()) follow(path, []);
  return found;
}

function strangers(all: Source[], packages: RegExp, within: RegExp): string[] {
  return all
    .filter(({ path }) => !within.test(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => packages.test(specifier))
        .map(({ specifier, line }) => `${path}:${line} names ${specifier}`),
    );
}

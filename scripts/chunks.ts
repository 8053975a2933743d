/** Which files the build puts together, so that a command loads few, and how they get at Node's own modules. */
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Metafile, Plugin } from "esbuild";

/** Files that are loaded together or not at all. */
interface Group {
  name: string;
  files: ReadonlySet<string>;
}

/** What every command runs or prints its help by. */
const terminal = [
  ...["cli/run", "core/kernel/counted", "core/kernel/environment", "core/store/schema/values", "daemon/log/lines"],
  ...["cli/kernel/errors", "cli/kernel/exit-codes", "cli/kernel/failure", "cli/kernel/globals", "cli/kernel/input"],
  ...["cli/kernel/input-time", "cli/output/clean", "cli/output/prompts", "cli/output/words", "cli/client/api"],
  ...["cli/place/partner-options", "cli/place/operator", "cli/place/place", "cli/client/pages", "cli/bulk/import-csv"],
  ...["cli/frame/command", "cli/frame/help", "cli/frame/all-partners"],
].map((name) => `src/${name}.ts`);

/** What completion runs at each Tab to read names from local data. */
const names = ["names", "data-directory"].map((name) => `src/core/platform/${name}.ts`);

/** What a command on local data runs besides: its store, and the printing of lists and records. */
const local = [
  ...["place/local-store", "client/in-process", "output/listing", "output/print"].map((name) => `src/cli/${name}.ts`),
  ...["kernel/clock", "kernel/ids"].map((name) => `src/core/${name}.ts`),
];

type Inputs = Metafile["inputs"];

/** What a file needs before it runs. */
function needs(inputs: Inputs, path: string): string[] {
  const { imports = [] } = inputs[path] ?? {};
  return imports.flatMap((one) => (one.external === true || one.kind === "dynamic-import" ? [] : [one.path]));
}

function closure(inputs: Inputs, roots: readonly string[]): Set<string> {
  const files = new Set<string>();
  const add = (path: string) => {
    if (files.has(path) || inputs[path] === undefined) return;
    files.add(path);
    needs(inputs, path).forEach(add);
  };
  roots.forEach(add);
  return files;
}

/** The groups, each apart from those before it. Core's files are apart from the terminal's: threads load core alone. */
function groupsOf(inputs: Inputs, first: ReadonlySet<string>): Group[] {
  const used = new Set(first);
  return Object.entries({ terminal, names, local }).flatMap(([name, roots]) => {
    const unknown = roots.find((path) => inputs[path] === undefined);
    if (unknown !== undefined) throw new Error(`scripts/chunks.ts names ${unknown}, which the program does not load.`);
    const whole = [...closure(inputs, roots)];
    const core = closure(
      inputs,
      whole.filter((path) => path.startsWith("src/core/")),
    );
    return [
      { name: `${name}-core`, files: core },
      { name, files: new Set(whole) },
    ].map(({ name, files }) => {
      const own = new Set([...files].filter((path) => !used.has(path)));
      for (const path of own) used.add(path);
      return { name, files: own };
    });
  });
}

/**
 * Makes each group one chunk: every file outside of it that imports one of its sources imports all of them, and so does
 * each of its own that is loaded by `import()`. Left alone they become a chunk for each set of commands that shares
 * some of them, and each file costs a start half a millisecond. `metafile` is of a build without this.
 */
export function together({ inputs, outputs }: Metafile, root: string): Plugin {
  const entries = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []);
  const first = closure(inputs, ["src/cli/main.ts", "src/cli/frame/compile-cache.ts", "src/cli/frame/parent.ts"]);
  const groups = groupsOf(inputs, first);
  const added = (path: string) =>
    groups.filter(({ files }) =>
      files.has(path)
        ? entries.includes(path)
        : needs(inputs, path).some((one) => one.startsWith("src/") && files.has(one)),
    );
  const atStart = new Set([...first, ...groups.flatMap(({ files }) => [...files])]);
  return {
    name: "together",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^group:/ }, ({ path }) => ({ path, namespace: "group" }));
      onLoad({ filter: /./, namespace: "group" }, ({ path }) => {
        const { files = [] } = groups.find(({ name }) => path === `group:${name}`) ?? {};
        const own = [...files].filter((file) => file.startsWith("src/"));
        return {
          contents: own.map((file) => `import ${JSON.stringify(join(root, file))};`).join(""),
          resolveDir: root,
        };
      });
      onLoad({ filter: /\.m?[jt]s$/ }, ({ path }) => {
        const file = relative(root, path).replaceAll(sep, "/");
        const names = file.startsWith("src/") && !isThread(file) ? added(file).map(({ name }) => name) : [];
        if (names.length === 0 && !atStart.has(file)) return undefined;
        const source = readFileSync(path, "utf8");
        const groups = names.map((name) => `import "group:${name}";`).join("");
        const contents = groups + (atStart.has(file) ? withoutFacades(source) : source);
        return { contents, loader: path.endsWith(".ts") ? "ts" : "js" };
      });
    },
  };
}

/** Whether a file is one that threads are started by: it imports what it needs, and no more. */
function isThread(path: string): boolean {
  return path.endsWith("-thread.ts");
}

/**
 * Bundles better-sqlite3 but for its last file, which looks for the native part beside itself: loaded from their
 * package, its files take as long as opening a database.
 */
export const sqlite: Plugin = {
  name: "sqlite",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
      /[\\/]better-sqlite3[\\/]lib[\\/]index\.js$/.test(importer)
        ? { path: "binding", namespace: "sqlite" }
        : undefined,
    );
    onLoad({ filter: /./, namespace: "sqlite" }, () => ({
      contents: `const { join } = require("node:path");
        module.exports = require(join(require.resolve("better-sqlite3/package.json"), "..", "lib", "binding.js"));`,
    }));
  },
};

const NODE_IMPORT = /^import (?:(\w+)|\* as (\w+)|(?:(\w+), )?\{([^}]*)\}) from ["'](node:[\w/]+)["'];?$/gm;

/** What commander starts other programs by, which there are none of here: loaded when it does. */
const LATE = "node:child_process";

/**
 * The same source with Node's own modules fetched by a call. Importing one evaluates all that it exports, and so loads
 * what Node loads when it is asked for: streams with `node:fs`, standard input with `node:process`.
 */
function withoutFacades(source: string): string {
  return source.replace(NODE_IMPORT, (_line, plain, all, beside, braces: string | undefined, module) => {
    const fetched = `globalThis.process.getBuiltinModule(${JSON.stringify(module)})`;
    if (module === LATE && plain !== undefined)
      return `const ${plain} = new Proxy({}, { get: (_, name) => ${fetched}[name] });`;
    const listed = (braces ?? "").split(",").map((name) => name.trim());
    const names = listed.filter((name) => name !== "" && !name.startsWith("type "));
    const whole = [plain, all, beside].filter((name) => name !== undefined);
    const parts = names.length === 0 ? [] : [`{ ${names.map((name) => name.replace(" as ", ": ")).join(", ")} }`];
    return [...whole, ...parts].map((target) => `const ${target} = ${fetched};`).join(" ");
  });
}

const OWN_REQUIRE = 'const require=process.getBuiltinModule("node:module").createRequire(import.meta.url);\n';

/** A chunk with what CommonJS packages ask for Node's own modules by: `require`, which a module does not have. */
export function withRequire(text: string): string {
  return /(?<![.\w])require\b/.test(text) ? OWN_REQUIRE + text : text;
}

/**
 * A chunk without characters beyond ASCII: one of them makes Node keep two bytes for each character of the whole file.
 * esbuild leaves them in comments and regular expressions, where an escape means the same.
 */
export function ascii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

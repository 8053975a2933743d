/**
 * Bundles the terminal (and with it the daemon) into dist/, split so that a short command loads little, and puts the
 * licenses of what it is built from beside it.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type BuildOptions, build, stop } from "esbuild";
import { ascii, sqlite, together, withRequire } from "./chunks.ts";
import { licensedPackages, thirdPartyLicenses } from "./licenses.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

/** Installed beside us as they are: native parts, worker threads and assets that they look up beside themselves. */
const external = ["pg", "pino", "pino-pretty", "@scalar/fastify-api-reference"];

/** `debug` uses it where it is installed. It is no dependency: what it would add is only that of a developer. */
const absent = ["supports-color"];

const options = {
  absWorkingDir: root,
  // Threads are started by their paths.
  entryPoints: {
    main: "src/cli/main.ts",
    "raster-thread": "src/daemon/pages/raster-thread.ts",
    "checkpoint-thread": "src/core/store/sqlite/checkpoint-thread.ts",
    "hash-thread": "src/core/accounts/hash-thread.ts",
    "damage-thread": "src/core/store/sqlite/damage-thread.ts",
    "writer-thread": "src/daemon/writer/writer-thread.ts",
  },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // As tsconfig.json says it, which need not be beside what is built.
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
  chunkNames: "chunks/[name]-[hash]",
  // All other packages go in: loading them file by file takes a short command ten times as long.
  external: [...external, ...absent],
  plugins: [sqlite],
  write: false,
  metafile: true,
} satisfies BuildOptions;

// Which files go together is known once all of them are.
const { metafile: apart } = await build(options);
const { outputFiles, metafile } = await build({ ...options, plugins: [sqlite, together(apart, root)] });
const { outputFiles: browserFiles, metafile: browser } = await build({
  ...options,
  entryPoints: { "web/app": "src/web/browser/app.ts", "web/style": "src/web/style.css" },
  platform: "browser",
  target: "es2023",
  splitting: false,
  minify: true,
  external: [],
  plugins: [],
});
// Its process would stay for as long as this one, which may serve: hundreds of megabytes.
await stop();

const shipped = licensedPackages();
const inputs = [metafile, browser].flatMap((built) => Object.keys(built.inputs));
const unlisted = bundledFolders(inputs).filter((path) => !shipped.some((of) => of.path === path));
if (unlisted.length > 0) throw new Error(`Not among the dependencies, but bundled: ${unlisted.join(", ")}`);
const licenses = join(dist, "THIRD-PARTY-LICENSES.md");
write(licenses, Buffer.from(thirdPartyLicenses(shipped)));

// The entry goes last and by rename: a concurrent start loads the complete old or new program.
const entryLast = outputFiles.toSorted((a, b) => Number(isEntry(a.path)) - Number(isEntry(b.path)));
for (const { path, text } of entryLast) write(path, Buffer.from(ascii(withRequire(text))));

// What portal and console load in a browser.
const icon = join(dist, "web", "icon.svg");
write(icon, readFileSync(join(root, "src", "web", "icon.svg")));
for (const { path, contents } of browserFiles) write(path, contents);

// The program prints its manual itself: `man` in package.json points here.
const manual = join(dist, "esimctl.1");
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
write(manual, execFileSync(process.execPath, [join(root, "bin", "esimctl"), "help", "--man"], { env }));

// Programs that are starting just now still load the chunks of the build before; a package holds none of those.
const grace = process.argv.includes("--clean") ? 0 : 60 * 60 * 1000;
const made = new Set([manual, licenses, icon, ...[...outputFiles, ...browserFiles].map(({ path }) => path)]);
for (const name of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = join(name.parentPath, name.name);
  if (name.isFile() && !made.has(path) && Date.now() - lastMade(path) >= grace) rmSync(path, { force: true });
}

/** The folders of the packages that these files belong to: up to the name after the last `node_modules`. */
function bundledFolders(inputs: string[]): string[] {
  const folders = inputs.map((path) => path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1]);
  return [...new Set(folders)].filter((folder) => folder !== undefined);
}

/** Whole or not at all. */
function write(path: string, contents: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}

function isEntry(path: string): boolean {
  return path === join(dist, "main.js");
}

/** 0 for a file that another build took away meanwhile. */
function lastMade(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "./store.ts";

/** What the program is built from, and the digests to which a migration adds its own. */
const SOURCES = [
  ...["bin", "drizzle", "fixtures", "package.json", "package-lock.json", "scripts", "src"],
  "test/released-migrations.json",
];

/** A replacement in a file of the sources. */
export interface Edit {
  path: string;
  before: string;
  after: string;
}

/** Another build of the program, of sources of its own. */
export interface LaterBuild {
  /** The root of its sources. */
  root: string;
  /** As `LaunchOptions` takes it. */
  build: string;
}

/** Dependencies are linked, and count as its own, as they do in a checkout. */
const linked: Edit = {
  path: "scripts/build.ts",
  before: "bundle: true,",
  after: "bundle: true, preserveSymlinks: true,",
};

/**
 * Builds the program of the release after that of the sources in `from`: with `edits`, and the migration `name` that
 * `npm run migration` makes of them.
 */
export function buildLater(from: string, name: string, edits: Edit[]): LaterBuild {
  const root = temporaryDirectory();
  for (const source of SOURCES) cpSync(join(from, source), join(root, source), { recursive: true });
  symlinkSync(join(from, "node_modules"), join(root, "node_modules"));
  const isLinked = readFileSync(join(root, linked.path), "utf8").includes(linked.after);
  for (const edit of isLinked ? edits : [linked, ...edits]) apply(root, edit);
  const run = (script: string, ...args: string[]) =>
    execFileSync(process.execPath, [`scripts/${script}.ts`, ...args], { cwd: root, stdio: "pipe" });
  run("make-migration", name);
  run("build");
  return { root, build: join(root, "bin", "esimctl") };
}

function apply(root: string, { path, before, after }: Edit): void {
  const file = join(root, path);
  const parts = readFileSync(file, "utf8").split(before);
  if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${before}`);
  writeFileSync(file, parts.join(after));
}

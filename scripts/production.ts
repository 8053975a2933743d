import { readFileSync } from "node:fs";
import { join } from "node:path";

/** An entry of a lock file, with the fields that are read here. */
interface LockEntry {
  version?: string;
  license?: string;
  /** Needed by development only. */
  dev?: boolean;
  /** Needed by development, or an optional peer of something: never by the program. */
  devOptional?: boolean;
  /** A workspace. */
  link?: boolean;
  resolved?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  workspaces?: string[];
}

interface Lock {
  name: string;
  version: string;
  packages: Record<string, LockEntry>;
}

/** A package that the program needs at run time. */
export interface ProductionPackage {
  /** Its folder in the checkout, such as `node_modules/pino/node_modules/safe-stable-stringify`. */
  path: string;
  name: string;
  version: string;
  /** As its package.json has it: an SPDX expression, or free text of old packages. */
  license: string;
}

const root = join(import.meta.dirname, "..");
const lock: Lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));

/**
 * package-lock.json without what only development needs, without workspaces, and without the addresses that packages
 * were fetched from: npm asks the registry of the machine that installs. Integrity hashes stay.
 */
export function productionLock(): Lock {
  const { devDependencies: _dev, workspaces: _workspaces, ...own } = lock.packages[""] ?? {};
  const needed = Object.entries(lock.packages).filter(([path, entry]) => isNeeded(path, entry));
  const packages = needed.map(([path, { resolved: _resolved, ...entry }]): [string, LockEntry] => [path, entry]);
  return { ...lock, packages: { "": own, ...Object.fromEntries(packages) } };
}

/** Every package of `productionLock`, by name and version. */
export function productionPackages(): ProductionPackage[] {
  return Object.entries(productionLock().packages)
    .filter(([path]) => path !== "")
    .map(([path, { version = "", license = "" }]) => ({ path, name: nameOf(path), version, license }))
    .toSorted((a, b) => compare(a.name, b.name) || compare(a.version, b.version) || compare(a.path, b.path));
}

/** The name of the package in a folder: what follows the last `node_modules/`. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function isNeeded(path: string, { dev, devOptional, link }: LockEntry): boolean {
  return path.startsWith("node_modules/") && !dev && !devOptional && !link;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

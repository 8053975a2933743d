/**
 * `npm run sbom [FILE]`: the software bill of materials of what the package needs at run time, as CycloneDX 1.5 in
 * JSON, in `dist/sbom.json` where no file is named. The same checkout and npm make the same file: it has no serial
 * number, and a time only from SOURCE_DATE_EPOCH (seconds since 1970).
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { licensedPackages } from "./licenses.ts";
import { productionLock } from "./production.ts";

const root = join(import.meta.dirname, "..");
const file = resolve(process.argv[2] ?? join(root, "dist", "sbom.json"));

const { serialNumber: _serial, ...bom } = JSON.parse(npmSbom());
const { timestamp: _timestamp, ...metadata } = bom.metadata;
const time = timeOfSource(process.env.SOURCE_DATE_EPOCH);
const made = { ...bom, metadata: time === null ? metadata : { timestamp: time, ...metadata } };
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`);
console.log(`${file}: ${bom.components.length} packages`);

/** npm's own bill, of a folder that holds only the manifest and the lock file of production. */
function npmSbom(): string {
  const parent = mkdtempSync(join(tmpdir(), "esimctl-sbom-"));
  // npm names the component after its folder.
  const folder = join(parent, "esimctl");
  try {
    mkdirSync(folder);
    const { name, version, description, license, dependencies } = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8"),
    );
    const manifest = { name, version, description, license, dependencies };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify(licensedLock()));
    const options = ["--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"];
    return execFileSync("npm", ["sbom", ...options], { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** The lock file with the licenses as SPDX names them: npm leaves out what it cannot read as such. */
function licensedLock(): ReturnType<typeof productionLock> {
  const lock = productionLock();
  const licensed = licensedPackages().map(({ path, license }) => [path, { ...lock.packages[path], license }]);
  return { ...lock, packages: { ...lock.packages, ...Object.fromEntries(licensed) } };
}

/** The ISO time of SOURCE_DATE_EPOCH, or null without one. */
function timeOfSource(seconds: string | undefined): string | null {
  if (seconds === undefined || seconds === "") return null;
  if (!/^\d{1,11}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH is "${seconds}"; give whole seconds since 1970`);
  return new Date(Number(seconds) * 1000).toISOString();
}

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { describe, expect, test } from "vitest";
import { licensedPackages, licenseFaults, thirdPartyLicenses } from "../scripts/licenses.ts";
import { productionLock, productionPackages } from "../scripts/production.ts";
import { launchCommand } from "./support/process.ts";
import { root } from "./support/sources.ts";
import { temporaryDirectory } from "./support/store.ts";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const names = productionPackages().map(({ name }) => name);
const versioned = new Set(productionPackages().map(({ name, version }) => `${name}@${version}`));

describe("the versions that the package pins", () => {
  test("all dependencies, also indirect ones, none of development and no workspace", () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
    // Some are in the program as dependencies of others.
    for (const absent of [...Object.keys(manifest.devDependencies), "esimctl-clients"]) {
      if (names.includes(absent)) expect(["ajv", "ajv-formats", "@noble/ciphers", "yaml"]).toContain(absent);
    }
    expect(names.filter((name) => name.startsWith("@types/"))).toEqual([]);
  });

  test("each with its integrity hash, none with the address that it was fetched from", () => {
    const { "": own, ...packages } = productionLock().packages;
    expect(own).toMatchObject({ version: manifest.version, dependencies: manifest.dependencies });
    expect(own).not.toHaveProperty("devDependencies");
    expect(own).not.toHaveProperty("workspaces");
    for (const [path, entry] of Object.entries(packages)) {
      expect(entry, path).toMatchObject({ integrity: expect.stringMatching(/^sha512-/), version: expect.any(String) });
      expect(entry, path).not.toHaveProperty("resolved");
    }
  });

  test("a checkout has no shrinkwrap: npm would use it in place of package-lock.json", () => {
    expect(existsSync(join(root, "npm-shrinkwrap.json"))).toBe(false);
  });
});

describe("licenses", () => {
  const packages = licensedPackages();

  test("every shipped package is under a license that is allowed, and its text is there", () => {
    expect(licenseFaults(packages)).toEqual([]);
  });

  test("a disallowed license, a missing one and a missing text are faults, and nothing is written", () => {
    const copyleft = { path: "node_modules/x", name: "x", version: "1.0.0", license: "GPL-3.0-only", text: "GPL" };
    const unknown = { ...copyleft, name: "y", license: "", text: "All rights reserved" };
    const textless = { ...copyleft, name: "z", license: "MIT", text: " " };
    expect(licenseFaults([copyleft, unknown, textless])).toEqual([
      'x@1.0.0: license "GPL-3.0-only" is not allowed',
      'y@1.0.0: license "" is not allowed',
      "z@1.0.0: no license text",
    ]);
    expect(() => thirdPartyLicenses([copyleft])).toThrow("x@1.0.0");
  });

  test("the build puts name, version, license and text of each beside the program", () => {
    const page = readFileSync(join(root, "dist", "THIRD-PARTY-LICENSES.md"), "utf8");
    expect(page).toBe(thirdPartyLicenses(packages));
    for (const { name, version, license, text } of packages) {
      expect(page).toContain(`| ${name} | ${version} | ${license} |`);
      expect(page).toContain(text);
    }
  });
});

describe("npm run sbom", () => {
  const sbom = async (file: string, SOURCE_DATE_EPOCH = "") => {
    const command = ["run", "--silent", "sbom", "--", file];
    const ended = await launchCommand("npm", command, { cwd: root, env: { SOURCE_DATE_EPOCH } }).ended;
    expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
    return readFileSync(file, "utf8");
  };

  test("writes valid CycloneDX of exactly what is shipped, with licenses and hashes, the same each time", {
    tags: ["slow"],
  }, async () => {
    const folder = temporaryDirectory();
    const text = await sbom(join(folder, "new", "sbom.json"));
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text)).toBeNull();
    const bom = JSON.parse(text);
    expect(bom).toMatchObject({
      bomFormat: "CycloneDX",
      metadata: { component: { name: "esimctl", version: manifest.version, type: "application" } },
    });
    const components: Record<string, unknown>[] = bom.components;
    expect(new Set(components.map(({ name, version }) => `${name}@${version}`))).toEqual(versioned);
    for (const component of components) {
      expect(component).toMatchObject({ hashes: [{ alg: "SHA-512" }], licenses: [expect.anything()] });
    }
    expect(bom).not.toHaveProperty("serialNumber");
    expect(bom.metadata).not.toHaveProperty("timestamp");
    // It holds the time of SOURCE_DATE_EPOCH where that is set; otherwise both are equal.
    const { metadata, ...dated } = JSON.parse(await sbom(join(folder, "second.json"), "1700000000"));
    const { timestamp, ...described } = metadata;
    const { metadata: undated, ...rest } = bom;
    expect(timestamp).toBe("2023-11-14T22:13:20.000Z");
    expect(JSON.stringify({ ...dated, metadata: described })).toBe(JSON.stringify({ ...rest, metadata: undated }));
  });
});

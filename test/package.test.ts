import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { licensedPackages, licenseFaults, thirdPartyLicenses } from "../scripts/licenses.ts";
import { root } from "./support/sources.ts";

describe("licenses", () => {
  const packages = licensedPackages();

  test("every shipped package is under a license that is allowed, and its text is there", () => {
    expect(licenseFaults(packages)).toEqual([]);
  });

  test("a license that is not allowed, a missing one and a missing text are faults, and nothing is written", () => {
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

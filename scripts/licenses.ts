import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ProductionPackage, productionPackages } from "./production.ts";

const root = join(import.meta.dirname, "..");

/** Licenses that ask for no more than their text and notices to be kept: what THIRD-PARTY-LICENSES.md does. */
const ALLOWED = new Set([
  ...["MIT", "MIT-0", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0", "CC0-1.0"],
  "(MIT OR CC0-1.0)",
  // Fonts: they are not sold by themselves.
  "Bitstream-Vera",
  // Only for files that are shipped unchanged: their notice names the source.
  "MPL-2.0",
]);

/** Packages whose package.json does not name an SPDX license: what it means, and why. */
const READ_AS: Record<string, { license: string; why: string }> = {
  "dejavu-fonts-ttf@2.37.3": {
    license: "Bitstream-Vera",
    why: "its LICENSE is that of Bitstream Vera and Arev, and DejaVu changes are in the public domain",
  },
  "png-js@2.0.0": { license: "MIT", why: "its LICENSE is the MIT license" },
  "nub@0.0.0": { license: "MIT", why: "it says MIT/X11, an old name of the MIT license" },
};

/** Packages that carry no license text: whose text holds for them, and why. */
const TEXT_FROM: Record<string, { from: string; why: string }> = {
  "@scalar/schemas": { from: "@scalar/helpers", why: "made from the same repository under one license" },
  "@scalar/openapi-types": { from: "@scalar/helpers", why: "made from the same repository under one license" },
  "drizzle-orm": { from: "@opentelemetry/api", why: "the text of Apache-2.0 is the same for all" },
};

/** Packages under the MPL with no text of it: where the source of what is shipped is. */
const MPL_SOURCES: Record<string, string> = {
  "@resvg/resvg-wasm": "https://github.com/yisibl/resvg-js",
};

/** Packages under the MIT license with no text of it: the holder that their package.json names as author. */
const MIT_HOLDERS: Record<string, string> = {
  "abstract-logging": "James Sumners",
  brotli: "Devon Govett",
  dfa: "Devon Govett",
  fontkit: "Devon Govett",
  nub: "James Halliday",
};

/** A shipped package with the license it is under and its text. */
export interface LicensedPackage extends ProductionPackage {
  /** The license and notice files, or what is used in their place; empty where there is none. */
  text: string;
}

/** Every package that the program needs at run time, with its license. */
export function licensedPackages(): LicensedPackage[] {
  const packages = productionPackages();
  return packages.map((found) => {
    const license = READ_AS[`${found.name}@${found.version}`]?.license ?? found.license;
    return { ...found, license, text: textOf(found, packages) };
  });
}

/** What forbids to ship these packages: a license that is not allowed, or none, or no text of it. */
export function licenseFaults(packages: LicensedPackage[]): string[] {
  return packages.flatMap(({ name, version, license, text }) => [
    ...(ALLOWED.has(license) ? [] : [`${name}@${version}: license "${license}" is not allowed`]),
    ...(text.trim() === "" ? [`${name}@${version}: no license text`] : []),
  ]);
}

/** THIRD-PARTY-LICENSES.md. Throws where `licenseFaults` finds any. */
export function thirdPartyLicenses(packages: LicensedPackage[]): string {
  const faults = licenseFaults(packages);
  if (faults.length > 0) throw new Error(`These packages cannot be shipped:\n${faults.join("\n")}`);
  const rows = packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
  const texts = Map.groupBy(packages, ({ text }) => text);
  const sections = [...texts].map(([text, under]) => {
    const names = under.map(({ name, version }) => `${name}@${version}`);
    return `## ${names.join(", ")}\n\n\`\`\`\`text\n${text}\n\`\`\`\``;
  });
  return `# Third-party licenses

The packages that esimctl is built from or that are installed with it, and their licenses. Made by the build.

| package | version | license |
| --- | --- | --- |
${[...new Set(rows)].join("\n")}

${sections.join("\n\n")}
`;
}

/** The license and notice files of a package, else the part of its README, else the replacement for both. */
function textOf({ path, name }: ProductionPackage, packages: ProductionPackage[]): string {
  const folder = join(root, path);
  const names = readdirSync(folder).toSorted();
  const files = names.filter((file) => /^(licen[cs]e|copying|copyright|notice)([.-]|$)/i.test(file));
  if (files.length > 0) return files.map((file) => readText(join(folder, file))).join("\n\n");
  const readme = names.find((file) => /^readme/i.test(file));
  const part = readme === undefined ? "" : licensePart(readText(join(folder, readme)));
  if (part !== "") return part;
  const lender = packages.find((other) => other.name === TEXT_FROM[name]?.from);
  if (lender !== undefined) return textOf(lender, packages);
  const source = MPL_SOURCES[name];
  if (source !== undefined) return mplNotice(source);
  const holder = MIT_HOLDERS[name];
  return holder === undefined ? "" : `Copyright (c) ${holder}\n\n${MIT}`;
}

/** What follows the heading "License" of a README, where it is the text and not only a link to it. */
function licensePart(readme: string): string {
  const [, part = ""] = readme.match(/^#+ licen[cs]e\s*$([\s\S]*?)(?=^#|$(?![\s\S]))/im) ?? [];
  return /permission is hereby granted/i.test(part) ? part.trim() : "";
}

function mplNotice(source: string): string {
  return `This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was
not distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.

The source code of the files that are shipped here, unchanged, is available at ${source}.`;
}

function readText(file: string): string {
  return readFileSync(file, "utf8").replaceAll("\r\n", "\n").trim();
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including without
limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software,
and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

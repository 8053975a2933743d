import countries from "i18n-iso-countries/index.js"; // the package's entry would read its name lists in 80 languages
import en from "i18n-iso-countries/langs/en.json" with { type: "json" };

/** Names of each alpha-2 code: those of the package, then CLDR's, which are shorter for some. */
function allNames(): [name: string, code: string][] {
  const cldr = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
  const listed = Object.entries(en.countries).flatMap(([code, names]) => [names].flat().map((name) => [name, code]));
  const further = Object.keys(en.countries).map((code) => [cldr.of(code) ?? code, code]);
  return [...listed, ...further].map(([name = "", code = ""]) => [nameKey(name), code]);
}

/** A country's name without accents, punctuation, case and a leading article: "The Gambia" is "gambia". */
function nameKey(name: string): string {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain.replaceAll("&", " and ").replace(/\bst\b/g, "saint");
  return words
    .replace(/[^a-z]+/g, " ")
    .trim()
    .replace(/^the /, "");
}

let codes: Map<string, string> | undefined;

function codeOfName(name: string): string | null {
  // Of two countries with one name, "Congo", the first in the package's list has it.
  codes ??= new Map(allNames().reverse());
  return codes.get(nameKey(name)) ?? null;
}

/**
 * The ISO 3166-1 alpha-2 code of a country given by its alpha-2 or alpha-3 code or its English name, in any case; null
 * for anything else, such as a region.
 */
export function countryCode(text: string): string | null {
  return codeOfCode(text) ?? codeOfName(text);
}

/** Whether it is an ISO 3166-1 alpha-2 or alpha-3 code, in any case. */
export function isCountryCode(text: string): boolean {
  return codeOfCode(text) !== null;
}

function codeOfCode(text: string): string | null {
  const upper = text.trim().toUpperCase();
  if (/^[A-Z]{2}$/.test(upper) && countries.alpha2ToAlpha3(upper) !== undefined) return upper;
  return (/^[A-Z]{3}$/.test(upper) ? countries.alpha3ToAlpha2(upper) : undefined) ?? null;
}

/**
 * The countries of a product's coverage as look-ups spell them: their alpha-2 codes, each between spaces. Entries that
 * are no country, such as "Global", are left out.
 */
export function coverageKey(coverage: readonly string[]): string {
  const found = new Set(coverage.map(countryCode).filter((code) => code !== null));
  return found.size === 0 ? "" : ` ${[...found].sort().join(" ")} `;
}

/** The LIKE pattern of coverage keys that hold the country with this code. */
export function coversCountry(code: string): string {
  return `% ${code} %`;
}

import { distance } from "fastest-levenshtein";
import countries from "i18n-iso-countries/index.js"; // the package's entry would read its name lists in 80 languages
import en from "i18n-iso-countries/langs/en.json" with { type: "json" };

/** What a text says of a country: its alpha-2 code; the codes among which it does not choose; or none. */
export type CountryRead =
  | { code: string }
  | { ambiguous: readonly string[] }
  /** `near`: the country whose name it nearly is; null: none. */
  | { near: { name: string; code: string } | null };

/**
 * A name's words without accents, punctuation, case, "of", "the" and "and", in the order of the alphabet: "Korea,
 * Republic of" is "Republic of Korea".
 */
function nameKey(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain
    .replace(/[’']s\b/g, "s")
    .replace(/\bst\b/g, "saint")
    .replace(/[^a-z]+/g, " ")
    .trim()
    .split(" ");
  return words
    .filter((word) => !["of", "the", "and"].includes(word))
    .sort()
    .join(" ");
}

interface Names {
  codes: ReadonlyMap<string, string>;
  /** A name as it is written, by its letters in their order. */
  spelled: ReadonlyMap<string, string>;
  ambiguous: ReadonlyMap<string, readonly string[]>;
  others: ReadonlySet<string>;
}

let known: Names | undefined;

/** Names of each alpha-2 code: those of the package, CLDR's, which are shorter for some, and the aliases. */
function names(): Names {
  if (known !== undefined) return known;
  const cldr = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
  const ambiguous = new Map(Object.entries(ambiguousNames).map(([name, codes]) => [nameKey(name), codes]));
  const codes = new Map<string, string>();
  const spelled = new Map<string, string>();
  for (const [code, listed] of Object.entries(en.countries)) {
    for (const name of [[listed].flat(), cldr.of(code) ?? [], countryAliases[code] ?? []].flat()) {
      const key = nameKey(name);
      if (ambiguous.has(key)) continue;
      if (!codes.has(key)) codes.set(key, code);
      if (!spelled.has(lettersOf(name))) spelled.set(lettersOf(name), name);
    }
  }
  known = { codes, spelled, ambiguous, others: new Set(placesOfTheirOwn.map(nameKey)) };
  return known;
}

function lettersOf(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z]+/g, "");
}

/** Reads a country given by its ISO 3166-1 alpha-2 or alpha-3 code or an English name, in any case. */
export function readCountry(text: string): CountryRead {
  const code = codeOfCode(text);
  if (code !== null) return { code };
  const key = nameKey(text);
  const { codes, ambiguous, others } = names();
  const named = codes.get(key);
  if (named !== undefined) return { code: named };
  const several = ambiguous.get(key);
  if (several !== undefined) return { ambiguous: several };
  return { near: key === "" || others.has(key) ? null : nearestTo(text) };
}

/** Letters of which a name must have this many before one that differs by a letter is taken for a typing error. */
const LEAST_LETTERS = 5;
const LONG_NAME = 8;

function nearestTo(text: string): { name: string; code: string } | null {
  const letters = lettersOf(text);
  if (letters.length < LEAST_LETTERS) return null;
  const { spelled, codes } = names();
  const most = letters.length >= LONG_NAME ? 2 : 1;
  const near = [...spelled].filter(
    ([one]) => Math.abs(one.length - letters.length) <= most && distance(one, letters) <= most,
  );
  const [name] = near.map(([, one]) => one);
  return name === undefined ? null : { name, code: codes.get(nameKey(name)) ?? "" };
}

/**
 * The ISO 3166-1 alpha-2 code of a country given by its alpha-2 or alpha-3 code or its English name, in any case; null
 * for anything else, such as a region or a name that two countries have.
 */
export function countryCode(text: string): string | null {
  const read = readCountry(text);
  return "code" in read ? read.code : null;
}

/** The English name of the country with this alpha-2 code. */
export function countryName(code: string): string {
  return new Intl.DisplayNames(["en"], { type: "region" }).of(code) ?? code;
}

function codeOfCode(text: string): string | null {
  const upper = text.trim().toUpperCase();
  if (/^[A-Z]{2}$/.test(upper) && countries.alpha2ToAlpha3(upper) !== undefined) return upper;
  return (/^[A-Z]{3}$/.test(upper) ? countries.alpha3ToAlpha2(upper) : undefined) ?? null;
}

/** The ISO 3166-1 alpha-3 code of an alpha-2 code. */
export function alpha3Of(code: string): string {
  return countries.alpha2ToAlpha3(code) ?? code;
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

/**
 * What suppliers and partners call countries beside the names of ISO and CLDR, by alpha-2 code: short forms, former
 * names, and common abbreviations. Names are compared without case, accents, punctuation and the order of their words.
 */
const countryAliases: Readonly<Record<string, readonly string[]>> = {
  AE: ["UAE", "Emirates"],
  AG: ["Antigua"],
  AX: ["Aland"],
  BA: ["Bosnia"],
  BB: ["Barbados Island"],
  BN: ["Brunei"],
  BO: ["Bolivia, Plurinational State of"],
  BQ: ["Bonaire, Sint Eustatius and Saba", "Caribbean Netherlands"],
  CD: [
    "DR Congo",
    "DRC",
    "Congo DRC",
    "Congo Kinshasa",
    "Congo, Dem. Rep.",
    "Congo, The Democratic Republic of the",
    "Democratic Republic of the Congo",
    "Zaire",
  ],
  CF: ["CAR", "Central African Rep."],
  CG: ["Congo Brazzaville", "Republic of the Congo", "Congo, Rep."],
  CI: ["Ivory Coast", "Cote d Ivoire"],
  CN: ["PRC", "Mainland China", "People's Republic of China"],
  CV: ["Cabo Verde"],
  CZ: ["Czech", "Czechia", "Czech Rep."],
  DO: ["Dominican Rep."],
  EH: ["Western Sahara"],
  FK: ["Falkland Islands (Malvinas)", "Malvinas", "Falklands"],
  FM: ["Micronesia, Federated States of"],
  FO: ["Faeroe Islands", "Faroes"],
  GB: ["UK", "Great Britain", "Britain", "United Kingdom of Great Britain and Northern Ireland"],
  GM: ["Gambia"],
  HK: ["Hong Kong SAR", "Hong Kong, China", "Hongkong"],
  IR: ["Iran, Islamic Republic of", "Islamic Republic of Iran"],
  KG: ["Kyrgyz Republic"],
  KN: ["St Kitts", "Saint Kitts"],
  KP: ["Korea, Democratic People's Republic of", "DPRK", "Korea North"],
  KR: ["Korea, Republic of", "Korea South", "ROK"],
  LA: ["Lao PDR", "Lao", "Lao People's Democratic Republic"],
  MD: ["Moldova, Republic of"],
  MK: ["Macedonia", "Macedonia, the former Yugoslav Republic of", "FYROM"],
  MM: ["Burma"],
  MO: ["Macau", "Macao", "Macau SAR", "Macao, China", "Macau, China"],
  NL: ["Holland"],
  PS: ["Palestine, State of", "State of Palestine", "Palestinian Territories"],
  RU: ["Russia"],
  SA: ["KSA"],
  SH: ["Saint Helena, Ascension and Tristan da Cunha"],
  SK: ["Slovak Republic"],
  ST: ["Sao Tome"],
  SX: ["Sint Maarten"],
  SY: ["Syria"],
  SZ: ["Swaziland"],
  TC: ["Turks and Caicos"],
  TL: ["East Timor"],
  TR: ["Turkey", "Turkiye"],
  TT: ["Trinidad"],
  TW: ["Taiwan, Province of China", "Chinese Taipei"],
  TZ: ["Tanzania, United Republic of"],
  US: ["USA", "United States of America"],
  VA: ["Vatican", "Holy See", "Vatican City State", "Holy See (Vatican City State)"],
  VC: ["Saint Vincent"],
  VE: ["Venezuela, Bolivarian Republic of"],
  VG: ["Virgin Islands, British", "BVI"],
  VI: ["Virgin Islands, U.S.", "USVI"],
  VN: ["Viet Nam"],
};

/** Names that several countries have, each with the codes that it may mean. */
const ambiguousNames: Readonly<Record<string, readonly string[]>> = {
  Congo: ["CG", "CD"],
  Korea: ["KR", "KP"],
  "Virgin Islands": ["VG", "VI"],
};

/** Places that are no country of ISO 3166-1 and whose names are near one: they are never taken for a typing error. */
const placesOfTheirOwn: readonly string[] = [
  ...[
    "Europe",
    "Africa",
    "Asia",
    "Oceania",
    "North America",
    "South America",
    "Scotland",
    "Wales",
    "England",
    "Northern Ireland",
  ],
  ...[
    "Central America",
    "Latin America",
    "Northern Cyprus",
    "Canary Islands",
    "Hawaii",
    "Bonaire",
    "Netherlands Antilles",
    "Tahiti",
    "Crete",
    "Sardinia",
  ],
];

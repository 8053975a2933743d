import { readCountry } from "../kernel/country.ts";
import { invalid } from "../kernel/problem.ts";
import type { Plan } from "./provider.ts";

/** What the European Union is to suppliers, who have regions of their own. */
const EUROPE: Readonly<Record<string, string>> = { eu: "europe" };

/**
 * Reads the countries and regions that a sync is limited to: a plan is within when its whole coverage is, or when it
 * is one of a region that is named: by its name at the supplier, or by how that begins ("EU" for "EU-42"). Null: no
 * limit. Throws `validation` for a word that is neither a country nor a region of these plans.
 */
export function onlyPlans(words: readonly string[], plans: readonly Plan[]): (plan: Plan) => boolean {
  if (words.length === 0) return () => true;
  const regions = new Set(plans.flatMap(({ region }) => region ?? []));
  const countries = new Set<string>();
  const named = new Set<string>();
  const unknown: string[] = [];
  for (const word of words) {
    const country = readCountry(word);
    const found = [...regions].filter((region) => isNamed(region, word));
    if ("code" in country) countries.add(country.code);
    else if (found.length === 0) unknown.push(word);
    for (const region of found) named.add(region);
  }
  if (unknown.length > 0) throw invalid({ only: [unknownWords(unknown, regions)] });
  return ({ coverage, region }) =>
    (region !== null && named.has(region)) || (coverage.length > 0 && coverage.every((code) => countries.has(code)));
}

function isNamed(region: string, word: string): boolean {
  const [name, asked] = [region.toLowerCase(), word.trim().toLowerCase()];
  return [asked, EUROPE[asked]].some(
    (one) => one !== undefined && name.startsWith(one) && !/^\p{L}/u.test(name.slice(one.length)),
  );
}

const MOST_REGIONS = 12;

function unknownWords(words: readonly string[], regions: ReadonlySet<string>): string {
  const listed = [...regions].sort();
  const more = listed.length > MOST_REGIONS ? ", …" : "";
  const known = listed.length === 0 ? "" : `; regions: ${listed.slice(0, MOST_REGIONS).join(", ")}${more}`;
  return `has ${words.map((word) => `"${word}"`).join(", ")}, which is no country or region of this supplier${known}`;
}

import type { Checked } from "../kernel/checked.ts";
import { countryCode, countryName, readCountry } from "../kernel/country.ts";

const MOST_FAULTS = 5;
/** "Korea, Democratic People's Republic of" has one comma, "Bonaire, Sint Eustatius and Saba" too; some have two. */
const MOST_PARTS = 3;

/**
 * The places of a product's coverage, each once: countries as ISO 3166-1 alpha-2 codes, other places as they are
 * written. Entries are codes or English names, also several in one with `,`, `;` or `|` between. The problems name
 * what is no assigned code, may be two countries, or is nearly a country's name.
 */
export function resolveCoverage(entries: readonly string[]): Checked<string[]> {
  const places = entries.flatMap((entry) => entry.split(/[|;]/)).flatMap(placesOf);
  const faults = places.flatMap((place) => faultOf(place) ?? []);
  if (faults.length > 0) return { problems: faults.slice(0, MOST_FAULTS) };
  return { ok: [...new Set(places.map((place) => countryCode(place) ?? place))] };
}

/** Places of a coverage that are kept by their names, since they are no country of ISO 3166-1. */
export function keptNames(coverage: readonly string[]): string[] {
  return coverage.filter((place) => countryCode(place) === null);
}

/** The places between commas; a comma within a country's name, as in "Korea, Republic of", ends none. */
function placesOf(part: string): string[] {
  const pieces = part.split(",").map((piece) => piece.trim());
  const places: string[] = [];
  for (let at = 0; at < pieces.length; ) {
    const longest = Math.min(MOST_PARTS, pieces.length - at);
    const joined = Array.from({ length: longest }, (_, less) => pieces.slice(at, at + longest - less));
    const whole = joined.find((some) => some.length > 1 && countryCode(some.join(", ")) !== null) ?? [pieces[at] ?? ""];
    places.push(whole.join(", "));
    at += whole.length;
  }
  return places.filter((place) => place !== "");
}

function faultOf(place: string): string | null {
  const read = readCountry(place);
  if ("code" in read) return null;
  if ("ambiguous" in read) {
    const which = read.ambiguous.map((code) => `${code} (${countryName(code)})`);
    return `has "${place}", which may be ${which.join(" or ")}`;
  }
  if (/^[a-z]{2,3}$/i.test(place)) return `has "${place}", which is no ISO 3166-1 code`;
  return read.near === null ? null : `has "${place}", which is no country (did you mean ${read.near.name}?)`;
}

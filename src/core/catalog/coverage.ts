import type { Checked } from "../kernel/checked.ts";
import { countryCode, isCountryCode } from "../kernel/country.ts";

const MOST_FAULTS = 5;

/**
 * The countries of a product's coverage as ISO 3166-1 alpha-2 codes, each once. Entries are codes or English names,
 * also several in one with `,`, `;` or `|` between. The problems name each that is no country.
 */
export function resolveCoverage(entries: readonly string[]): Checked<string[]> {
  const places = entries.flatMap((entry) => entry.split(/[|;]/)).flatMap(placesOf);
  const faults = places.flatMap((place) => faultOf(place) ?? []);
  if (faults.length > 0) return { problems: faults.slice(0, MOST_FAULTS) };
  return { ok: [...new Set(places.flatMap((place) => countryCode(place) ?? []))] };
}

/** The places between commas, unless the whole is one country's name: "Korea, Republic of". */
function placesOf(part: string): string[] {
  const whole = part.trim();
  const parts = countryCode(whole) === null ? whole.split(",").map((place) => place.trim()) : [whole];
  return parts.filter((place) => place !== "");
}

/** Of two or three letters only codes are taken: what is a name as well may be meant for another country. */
function faultOf(place: string): string | null {
  const code = countryCode(place);
  if (/^[a-z]{2,3}$/i.test(place) && !isCountryCode(place)) {
    const hint = code === null ? "" : `: did you mean ${code}?`;
    return `has "${place}", which is no ISO 3166-1 code${hint}`;
  }
  return code === null ? `has "${place}", which is no country: give ISO 3166-1 codes or English names` : null;
}

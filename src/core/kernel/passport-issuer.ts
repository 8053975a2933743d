import type { Checked } from "./checked.ts";
import { alpha3Of, countryName, readCountry } from "./country.ts";

/** Issuers that ICAO 9303 part 3 has beside the countries of ISO 3166-1, and the code that is kept for each. */
const icaoIssuers: Readonly<Record<string, string>> = {
  D: "DEU",
  ...same("GBD", "GBN", "GBO", "GBP", "GBS"), // British passports of other than full citizens
  ...same("EUE", "UNO", "UNA", "UNK"), // the European Union, the United Nations, their mission in Kosovo
  ...same("XBA", "XCC", "XCE", "XCO", "XDC", "XEC", "XIM", "XMP", "XOM", "XPO"), // other organizations
  ...same("XXA", "XXB", "XXC"), // stateless persons, refugees
  ...same(`XX${"X"}`), // unspecified
  ...{ RKS: "RKS", XKX: "RKS", XKK: "RKS", XK: "RKS", KOS: "RKS", KSV: "RKS" }, // Kosovo has no code of ISO's
};

function same(...codes: string[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, code]));
}

/**
 * The issuer of a passport as it is kept: an alpha-3 code of ISO 3166-1 or ICAO 9303. It is given as a code, also with
 * the fill of a machine-readable zone ("D<<"), or as a country's English name. The problem is one sentence.
 */
export function readIssuer(text: string): Checked<string, string> {
  const plain = withoutFill(text);
  const icao = icaoIssuers[plain.toUpperCase()];
  if (icao !== undefined) return { ok: icao };
  const read = readCountry(plain);
  if ("code" in read) return { ok: read.code === "XK" ? "RKS" : alpha3Of(read.code) };
  if ("ambiguous" in read) {
    const codes = read.ambiguous.map((code) => `${alpha3Of(code)} (${countryName(code)})`);
    return { problems: `names several countries: give ${codes.join(" or ")}` };
  }
  const near = read.near === null ? "" : ` (did you mean ${read.near.name}?)`;
  return { problems: `must be an ISO 3166-1 country code such as GBR, or a country's English name${near}` };
}

/** The code that `readIssuer` reads; null where it names a problem. */
export function issuerCode(text: string): string | null {
  const read = readIssuer(text);
  return "ok" in read ? read.ok : null;
}

/** A value of a machine-readable zone without the `<` that fill it up. */
export function withoutFill(text: string): string {
  return text.trim().replace(/<+$/, "").trim();
}

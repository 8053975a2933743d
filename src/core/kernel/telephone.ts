import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";

/**
 * A telephone number in E.164, of one typed with its country's code or in the national form of `country` (ISO 3166-1
 * alpha-2; null: only E.164 is understood). Null: it is neither, or no
 * number of its country is so long.
 */
export function internationalNumber(typed: string, country: string | null): string | null {
  const home: { defaultCountry: CountryCode } | Record<string, never> =
    country !== null && isSupportedCountry(country) ? { defaultCountry: country } : {};
  const number = parsePhoneNumberFromString(typed.trim(), { ...home, extract: false });
  return number?.isValid() === true && number.ext === undefined ? number.number : null;
}

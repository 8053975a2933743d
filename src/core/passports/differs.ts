import { type IdentityField, identityNames } from "../kernel/identity-fields.ts";
import type { NewPassport } from "./passport.ts";

/** Fields that a record of the same document may say otherwise. */
type DifferingField = Exclude<IdentityField, "passport_no" | "passport_country">;

const compared = identityNames.filter(
  (field): field is DifferingField => field !== "passport_no" && field !== "passport_country",
);

function wordsOf(text: string | null): string {
  return (text ?? "").normalize("NFC").trim().split(/\s+/).join(" ");
}

/** The identity fields in which a record differs from that of the same document; blank ones are not compared. */
export function differingFields(known: NewPassport, given: NewPassport): DifferingField[] {
  return compared.filter((field) => {
    const text = wordsOf(given[field]);
    return text !== "" && text !== wordsOf(known[field]);
  });
}

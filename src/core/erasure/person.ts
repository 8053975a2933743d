import type { ActivationRow } from "../activations/activation.ts";
import { customerOf } from "../activations/customer.ts";
import { openKycIfReadable } from "../activations/identity.ts";
import { openAddressIfReadable } from "../after-sale/traveler-mails.ts";
import { normalizePassportNumber } from "../kernel/identity.ts";
import { issuerCode } from "../kernel/passport-issuer.ts";
import { invalid } from "../kernel/problem.ts";
import { emailKey } from "../kernel/search-keys.ts";
import { emailTrace, numberTrace, phoneKey, phoneTrace } from "../kernel/traces.ts";
import { customerOf as orderCustomerOf, travelerOf } from "../orders/customer.ts";
import type { ItemRow } from "../orders/items.ts";
import type { OrderRow } from "../orders/order.ts";
import { numberIndex, type PassportRow } from "../passports/passport.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Read } from "../store/store.ts";

/** Who is to be erased: at least one of these, as it was typed. Each names the same person. */
export interface NamedPerson {
  passport?: string | undefined;
  /** A code or name of the passport's issuer, see passport-issuer.ts; undefined: whatever its country. */
  country?: string | undefined;
  email?: string | undefined;
  phone?: string | undefined;
}

/** The same as it is compared. */
export interface Person {
  /** Normalized; null: not named. */
  passport: string | null;
  /** Alpha-3. */
  country: string | null;
  email: string | null;
  phone: string | null;
}

/** Fewer digits would be many persons' number. */
const LEAST_DIGITS = 6;

/** How a person is compared with what is stored. Throws `validation`. */
export function personOf({ passport, country, email, phone }: NamedPerson): Person {
  const person: Person = {
    passport: passport === undefined ? null : normalizePassportNumber(passport),
    country: country === undefined ? null : issuerCode(country),
    email: emailKey(email),
    phone: phone === undefined ? null : phoneKey(phone),
  };
  const digits = new RegExp(`^\\d{${LEAST_DIGITS},20}$`);
  const errors = {
    ...(person.passport !== null && !/^[A-Z0-9]{3,20}$/.test(person.passport)
      ? { passport: ["must be 3 to 20 letters and digits, besides spaces and hyphens"] }
      : {}),
    ...(country !== undefined && person.country === null
      ? { country: ["must be an ISO 3166-1 country code such as GBR, or a country's English name"] }
      : {}),
    ...(email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(person.email ?? "")
      ? { email: ["must be an e-mail address"] }
      : {}),
    ...(person.phone !== null && !digits.test(person.phone)
      ? { phone: [`must have at least ${LEAST_DIGITS} digits`] }
      : {}),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return person;
}

/** How texts repeat a person. */
export function tracesOfPerson({ passport, email, phone }: Person): RegExp[] {
  return [...numberTrace(passport ?? ""), ...emailTrace(email ?? ""), ...phoneTrace(phone ?? "")];
}

function isEmail(person: Person, address: string | null): boolean {
  return person.email !== null && emailKey(address) === person.email;
}

function isPhone(person: Person, phone: string | null): boolean {
  return person.phone !== null && phoneKey(phone) === person.phone;
}

/** Whether a passport of a pool is the person's. */
export function isOwnPassport(q: Read, person: Person, row: PassportRow): boolean {
  if (person.passport === null || row.number_index !== numberIndex(q, person.passport)) return false;
  return person.country === null || row.passport_country === person.country;
}

/** Whether a request names the person: by passport, e-mail address, telephone number or the number of their SIM. */
export function isOwnActivation(q: Read, person: Person, row: ActivationRow): boolean {
  const { customer_email, customer_phone, mobile_number } = customerOf(q, row);
  if (isEmail(person, customer_email)) return true;
  if (isPhone(person, customer_phone) || isPhone(person, mobile_number)) return true;
  if (person.passport === null || row.passport_index !== numberIndex(q, person.passport)) return false;
  if (person.country === null) return true;
  const kyc = openKycIfReadable(q, row);
  // The number is the person's; what cannot be read any more names no one else.
  return kyc === "unreadable" || kyc?.reveal().passport_country === person.country;
}

/** Whether the person is an item's traveler. */
export function isOwnItem(q: Read, person: Person, row: ItemRow): boolean {
  const traveler = travelerOf(q, row);
  if (traveler === null) return false;
  return isEmail(person, traveler.customer_email) || isPhone(person, traveler.customer_phone);
}

/** Whether the person is an order's customer. */
export function isOwnOrder(q: Read, person: Person, row: OrderRow): boolean {
  const customer = orderCustomerOf(q, row);
  return customer !== null && (isEmail(person, customer.email) || isPhone(person, customer.phone));
}

/** Whether a mail with an eSIM waits for the person: at an address of its own, the customer's being the order's. */
export function isOwnMail(q: Read, person: Person, { id, address_sealed }: Row<"travelerMails">): boolean {
  return address_sealed !== null && isEmail(person, openAddressIfReadable(q, id, address_sealed));
}

import type { PartnerId } from "./brand.ts";
import type { Environment } from "./environment.ts";
import { firstUuidOf } from "./ids.ts";
import type { CursorBinding, Position } from "./page.ts";
import { emailKey } from "./search-keys.ts";

/** What every list over all partners may be narrowed by. */
export interface OverAll {
  limit: number;
  cursor?: string | undefined;
  environment: Environment;
  partnerId?: PartnerId | undefined;
  /** Created at this moment (ms) or later. */
  since?: number | undefined;
  /** Created before this moment (ms). */
  until?: number | undefined;
  /** A customer's e-mail address, or the beginning of the name or of one of its words. */
  customer?: string | undefined;
}

/** Which list a cursor is made for: its name and all that narrows it. */
export function bindingOf(list: string, { limit: _, cursor: __, ...filter }: OverAll): CursorBinding {
  return { list, ...filter };
}

/** The position before the first row of a list that is newest first. */
export function startOf(until: number | undefined): Position<number> {
  // No id is less than "": by creation it starts below all rows of that moment. A letter after f is above every id.
  return until === undefined ? { key: Number.MAX_SAFE_INTEGER, id: "g" } : { key: until - 1, id: firstUuidOf(until) };
}

/** Whether a customer is named by an e-mail address, which an index leads to. */
export function isEmail(customer: string | undefined): customer is string {
  return customer?.includes("@") === true;
}

/**
 * Whether a record is this customer's: the same e-mail address, or a name that begins so, whatever case and accents.
 */
export function isCustomer(
  known: { name: string; email: string | null } | null,
  customer: string | undefined,
): boolean {
  if (customer === undefined) return true;
  if (known === null) return false;
  if (isEmail(customer)) return emailKey(known.email) === emailKey(customer);
  const [name, part] = [folded(known.name), folded(customer)];
  return name.startsWith(part) || name.includes(` ${part}`);
}

function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

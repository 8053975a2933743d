import { type ActivationRow, activationById } from "../activations/activation.ts";
import { customerOf } from "../activations/customer.ts";
import type { ActivationId, OrderId, OrderItemId, PassportId } from "../kernel/brand.ts";
import { type Search, searchFor } from "../kernel/person-search.ts";
import { customerOf as orderCustomerOf, travelerOf } from "../orders/customer.ts";
import { linesOfOrder, type OrderRow } from "../orders/order.ts";
import { openPassportIfReadable, type PassportRow } from "../passports/passport.ts";
import { findByKey } from "../store/rows.ts";
import { kindsUnder, recordsUnder } from "../store/sealing/named-records.ts";
import type { IndexScope, NamedRecord } from "../store/sealing/people.ts";
import type { Read } from "../store/store.ts";

/** Records that name whom or what was typed. */
export interface NamedSubjects {
  orders: OrderRow[];
  activations: ActivationRow[];
  passports: PassportRow[];
  /** Who is named, by the id of the record. */
  people: Map<string, string>;
  /** The kinds of which not all candidates were opened: more of them may be meant. */
  unopened: Set<NamedRecord["kind"]>;
}

/** Records that one look-up opens at most in each pass, newest first. */
const MOST_OPENED = 5_000;

/**
 * The records of these partners and environments that name a person, or carry a number, as it was typed: an e-mail
 * address, the beginnings of the words of a name in any order, or at least four characters of the end of a telephone,
 * EID or tracking number.
 */
export async function findNamed(q: Read, typed: string, scopes: readonly IndexScope[]): Promise<NamedSubjects> {
  const found: NamedSubjects = { orders: [], activations: [], passports: [], people: new Map(), unopened: new Set() };
  const search = searchFor(typed);
  if (search === null) return found;
  const seen = new Set<string>();
  for (const pass of search.passes) {
    const records = await recordsUnder(q, scopes, pass, MOST_OPENED + 1);
    const opened = records.slice(0, MOST_OPENED);
    const last = opened.at(-1);
    if (last !== undefined && records.length > opened.length) {
      for (const kind of await kindsUnder(q, scopes, pass, last.id)) found.unopened.add(kind);
    }
    for (const record of opened) {
      if (seen.has(record.id)) continue;
      seen.add(record.id);
      await take(q, search, record, found);
    }
  }
  return found;
}

/** Opens a record and keeps it if it is meant; of an item its order. */
async function take(q: Read, { fits }: Search, { kind, id }: NamedRecord, found: NamedSubjects): Promise<void> {
  // The index holds the ids of the records of each kind.
  switch (kind) {
    case "order": {
      const row = await findByKey(q, "orders", { id: id as OrderId });
      if (row !== null) await takeOrder(q, fits, row, found);
      return;
    }
    case "order_item": {
      const item = await findByKey(q, "orderItems", { id: id as OrderItemId });
      const traveler = item === null ? null : travelerOf(q, item);
      if (item === null || traveler === null) return;
      const { customer_name: name, customer_email: email, customer_phone, eid_number } = traveler;
      if (!fits({ name, email, phones: [customer_phone], numbers: [eid_number] })) return;
      const order = await findByKey(q, "orders", { id: item.order_id });
      if (order !== null) keep(found, found.orders, order, name);
      return;
    }
    case "activation": {
      const row = await activationById(q, id as ActivationId);
      if (row === null) return;
      const { customer_name: name, customer_email: email, customer_phone, mobile_number } = customerOf(q, row);
      if (fits({ name, email, phones: [customer_phone, mobile_number] })) keep(found, found.activations, row, name);
      return;
    }
    case "passport": {
      const row = await findByKey(q, "passports", { id: id as PassportId });
      const passport = row === null ? null : openPassportIfReadable(q, row);
      if (row === null || passport === null) return;
      const name = `${passport.first_name} ${passport.last_name}`;
      if (fits({ name })) keep(found, found.passports, row, name);
    }
  }
}

async function takeOrder(q: Read, fits: Search["fits"], row: OrderRow, found: NamedSubjects): Promise<void> {
  const customer = orderCustomerOf(q, row);
  const parcels = (await linesOfOrder(q, row.id)).map(({ shipping }) => shipping?.tracking_number ?? null);
  const { name = "", email = null, phone = null } = customer ?? {};
  if (fits({ name, email, phones: [phone], numbers: parcels })) keep(found, found.orders, row, name);
}

/** An order that several travelers lead to is kept once, with the first one's name. */
function keep<T extends { id: string }>(found: NamedSubjects, rows: T[], row: T, name: string): void {
  if (!rows.some(({ id }) => id === row.id)) rows.push(row);
  if (name !== "" && !found.people.has(row.id)) found.people.set(row.id, name);
}

import { desc, eq } from "drizzle-orm";
import type { ActivationRow } from "../activations/activation.ts";
import { openKyc } from "../activations/identity.ts";
import type { AuditLine } from "../audit/list.ts";
import type { EsimRow } from "../esims/esim.ts";
import { orderOfKey } from "../orders/idempotency.ts";
import type { OrderRow } from "../orders/order.ts";
import { numberIndex, openPassport, type PassportRow } from "../passports/passport.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { partnerNames } from "./names.ts";

/** Whose story is to be shown. */
export interface Subjects {
  orders: OrderRow[];
  /** Those that were meant; of an order that was meant, all of them. */
  esims: EsimRow[];
  activations: ActivationRow[];
  passports: PassportRow[];
  /** What a request that was meant put into the audit trail. */
  audited: AuditLine[];
  /** The kinds of which there are more than are here. */
  truncated: SubjectKind[];
}

export type SubjectKind = "order" | "esim" | "activation" | "passport";

/** Most of a kind that one look-up follows: the newest. */
const MOST_SUBJECTS = 50;
/** Enough to see that there are more. */
export const ONE_TOO_MANY = MOST_SUBJECTS + 1;

type Word = Slots<{ word: string }>;

const orderBy = {
  id: statement((db, t, slot: Word) => db.select().from(t.orders).where(eq(t.orders.id, slot.word))),
  number: statement((db, t, slot: Word) => db.select().from(t.orders).where(eq(t.orders.order_number, slot.word))),
};

/** Orders by what belongs to them. */
const orderOf = [
  statement((db, t, slot: Word) =>
    db.select({ id: t.orderItems.order_id }).from(t.orderItems).where(eq(t.orderItems.id, slot.word)),
  ),
  statement((db, t, slot: Word) =>
    db.select({ id: t.orderLines.order_id }).from(t.orderLines).where(eq(t.orderLines.id, slot.word)),
  ),
  statement((db, t, slot: Word) =>
    db
      .select({ id: t.ledgerTransactions.order_id })
      .from(t.ledgerTransactions)
      .where(eq(t.ledgerTransactions.id, slot.word)),
  ),
];

const esimBy = {
  id: statement((db, t, slot: Word) => db.select().from(t.esims).where(eq(t.esims.id, slot.word))),
  iccid: statement((db, t, slot: Word) => db.select().from(t.esims).where(eq(t.esims.iccid, slot.word))),
  order: statement((db, t, slot: Word) =>
    db.select().from(t.esims).where(eq(t.esims.order_id, slot.word)).orderBy(desc(t.esims.id)).limit(ONE_TOO_MANY),
  ),
};

const activationBy = {
  id: statement((db, t, slot: Word) => db.select().from(t.activations).where(eq(t.activations.id, slot.word))),
  iccid: statement((db, t, slot: Word) => db.select().from(t.activations).where(eq(t.activations.iccid, slot.word))),
  passport: statement((db, t, slot: Word) =>
    db
      .select()
      .from(t.activations)
      .where(eq(t.activations.passport_index, slot.word))
      .orderBy(desc(t.activations.id))
      .limit(ONE_TOO_MANY),
  ),
};

const passportBy = {
  id: statement((db, t, slot: Word) => db.select().from(t.passports).where(eq(t.passports.id, slot.word))),
  number: statement((db, t, slot: Word) =>
    db.select().from(t.passports).where(eq(t.passports.number_index, slot.word)),
  ),
};

/** What an event or a delivery is about. */
const subjectOf = [
  statement((db, t, slot: Word) =>
    db.select({ id: t.events.subject_id }).from(t.events).where(eq(t.events.id, slot.word)),
  ),
  statement((db, t, slot: Word) =>
    db
      .select({ id: t.events.subject_id })
      .from(t.deliveries)
      .innerJoin(t.events, eq(t.events.id, t.deliveries.event_id))
      .where(eq(t.deliveries.id, slot.word)),
  ),
];

/**
 * Everything that a word may mean: an ICCID, an order number, a passport number, or the id of an order, a line, an
 * item, an eSIM, an activation request, a passport, a ledger transaction, an event or a delivery.
 */
export async function ofWord(q: Read, word: string): Promise<Subjects> {
  const found = await ofId(q, word.toLowerCase());
  const mark = numberIndex(q, word);
  found.orders.push(...(await orderBy.number(q, { word: word.toUpperCase() })));
  found.esims.push(...(await esimBy.iccid(q, { word })));
  found.activations.push(...(await activationBy.iccid(q, { word })));
  found.activations.push(...(await activationBy.passport(q, { word: mark })));
  found.passports.push(...(await passportBy.number(q, { word: mark })));
  return found;
}

/** Orders under a number of the partner's own: an external order id, or the key that it sent with the order. */
export async function ofOwnNumber(q: Read, key: string): Promise<Subjects> {
  return { ...nothing(), orders: await ordersWithIds(q, await ownNumbers(q, key)) };
}

/** Whether nothing was found. */
export function isEmpty({ orders, esims, activations, passports, audited }: Subjects): boolean {
  return orders.length + esims.length + activations.length + passports.length + audited.length === 0;
}

/** The number of a passport with all but its end hidden; null where it was purged. */
export function maskedNumber(q: Read, row: PassportRow | ActivationRow): string | null {
  const number =
    "number_index" in row ? openPassport(q, row).passport_no : openKyc(q, row.sealed)?.reveal().passport_no;
  return number === null || number === undefined
    ? null
    : `${"•".repeat(Math.max(0, number.length - 3))}${number.slice(-3)}`;
}

/** What two look-ups found. */
export function joined(a: Subjects, b: Subjects): Subjects {
  return {
    orders: [...a.orders, ...b.orders],
    esims: [...a.esims, ...b.esims],
    activations: [...a.activations, ...b.activations],
    passports: [...a.passports, ...b.passports],
    audited: [...a.audited, ...b.audited],
    truncated: [...a.truncated, ...b.truncated],
  };
}

/** The beginning of a look-up. */
export function nothing(): Subjects {
  return { orders: [], esims: [], activations: [], passports: [], audited: [], truncated: [] };
}

/** What one of our ids belongs to. */
export async function ofId(q: Read, id: string): Promise<Subjects> {
  const about: { id: string | null }[] = [{ id }];
  for (const query of subjectOf) about.push(...(await query(q, { word: id })));
  const owners: { id: string | null }[] = [...about];
  for (const query of orderOf) for (const one of about) owners.push(...(await query(q, { word: one.id ?? "" })));
  const found = nothing();
  found.orders.push(...(await ordersWithIds(q, owners)));
  for (const one of about) {
    found.esims.push(...(await esimBy.id(q, { word: one.id ?? "" })));
    found.activations.push(...(await activationBy.id(q, { word: one.id ?? "" })));
  }
  found.passports.push(...(await passportBy.id(q, { word: id })));
  return found;
}

async function ownNumbers(q: Read, key: string): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  for (const partner_id of (await partnerNames(q)).keys()) {
    for (const environment of ["production", "sandbox"]) {
      for (const space of ["bulk", "single"] as const) {
        const used = await orderOfKey(q, { partner_id, environment, space, key });
        if (used !== null) found.push({ id: used.order_id });
      }
    }
  }
  return found;
}

/** The orders with these ids. */
export async function ordersWithIds(q: Read, ids: { id: string | null }[]): Promise<OrderRow[]> {
  const orders: OrderRow[] = [];
  for (const id of new Set(ids.map((one) => one.id))) {
    const order = id === null ? null : first(await orderBy.id(q, { word: id }));
    if (order !== null) orders.push(order);
  }
  return orders;
}

/** An eSIM's story is its order's as well; an order's is that of its eSIMs. The newest 50 of each kind. */
export async function withOrdersAndEsims(q: Read, found: Subjects): Promise<Subjects> {
  const esims = [...found.esims];
  for (const order of found.orders) esims.push(...(await esimBy.order(q, { word: order.id })));
  const bought = found.esims.map((esim) => ({ id: esim.order_id }));
  const truncated = new Set(found.truncated);
  const newest = <T extends { id: string }>(kind: SubjectKind, rows: T[]): T[] => {
    const all = unique(rows).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    if (all.length > MOST_SUBJECTS) truncated.add(kind);
    return all.slice(0, MOST_SUBJECTS);
  };
  return {
    orders: newest("order", [...found.orders, ...(await ordersWithIds(q, bought))]),
    esims: newest("esim", esims),
    activations: newest("activation", found.activations),
    passports: newest("passport", found.passports),
    audited: found.audited,
    truncated: [...truncated],
  };
}

function unique<T extends { id: string }>(rows: T[]): T[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

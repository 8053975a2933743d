import { and, eq, type SQL, sql } from "drizzle-orm";
import type { ActivationRow } from "../../activations/activation.ts";
import { openKyc } from "../../activations/identity.ts";
import type { EsimRow } from "../../esims/esim.ts";
import type { OrderRow } from "../../orders/order.ts";
import { numberIndex, openPassport, type PassportRow } from "../../passports/passport.ts";
import type { Tables } from "../../store/schema/tables.ts";
import { first, type Slots, statement } from "../../store/statement.ts";
import type { Read } from "../../store/store.ts";
import { partnerNames } from "./names.ts";

/** Whose story is to be told. */
export interface Subjects {
  orders: OrderRow[];
  /** Those that were meant; of an order that was meant, all of them. */
  esims: EsimRow[];
  activations: ActivationRow[];
  passports: PassportRow[];
}

/** Most rows of a kind that one look-up follows. */
export const MOST_SUBJECTS = 50;

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
    db.select().from(t.esims).where(eq(t.esims.order_id, slot.word)).orderBy(t.esims.id).limit(MOST_SUBJECTS),
  ),
};

const activationBy = {
  id: statement((db, t, slot: Word) => db.select().from(t.activations).where(eq(t.activations.id, slot.word))),
  iccid: statement((db, t, slot: Word) => db.select().from(t.activations).where(eq(t.activations.iccid, slot.word))),
  passport: statement((db, t, slot: Word) =>
    db.select().from(t.activations).where(eq(t.activations.passport_index, slot.word)).limit(MOST_SUBJECTS),
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

type Mail = Slots<{ email: string; pattern: string }>;

/** A member of a column of JSON text; "!" escapes what LIKE takes for itself. */
function holds(column: Tables["orders"]["customer"] | Tables["orderItems"]["traveller"], slot: Mail): SQL {
  return sql`lower(${column}) like ${slot.pattern} escape '!'`;
}

const byMail = {
  orders: statement((db, t, slot: Mail) =>
    db.select().from(t.orders).where(holds(t.orders.customer, slot)).limit(MOST_SUBJECTS),
  ),
  items: statement((db, t, slot: Mail) =>
    db
      .select({ id: t.orderItems.order_id })
      .from(t.orderItems)
      .where(holds(t.orderItems.traveller, slot))
      .limit(MOST_SUBJECTS),
  ),
  activations: statement((db, t, slot: Mail) =>
    db
      .select()
      .from(t.activations)
      .where(sql`lower(${t.activations.customer_email}) = ${slot.email}`)
      .limit(MOST_SUBJECTS),
  ),
};

type Own = { partner_id: string; environment: string; space: string; key: string };

const byOwnNumber = statement((db, t, slot: Slots<Own>) =>
  db
    .select({ id: t.idempotencyKeys.order_id })
    .from(t.idempotencyKeys)
    .where(
      and(
        eq(t.idempotencyKeys.partner_id, slot.partner_id),
        eq(t.idempotencyKeys.environment, slot.environment),
        eq(t.idempotencyKeys.space, slot.space),
        eq(t.idempotencyKeys.key, slot.key),
      ),
    ),
);

/**
 * Everything that `typed` may mean: an ICCID, an order number (ours or the partner's own), an e-mail address, a
 * passport number, or the id of an order, a line, an item, an eSIM, an activation request, a passport, a ledger
 * transaction, an event or a delivery.
 */
export async function findSubjects(q: Read, typed: string): Promise<Subjects> {
  const word = typed.trim();
  if (word.includes("@")) return withOrdersAndEsims(q, await ofMail(q, word.toLowerCase()));
  const direct = await ofWord(q, word);
  if (!isEmpty(direct)) return withOrdersAndEsims(q, direct);
  const orders = await ordersWithIds(q, await ownNumbers(q, word));
  return withOrdersAndEsims(q, { ...nothing(), orders });
}

/** Whether nothing was found. */
export function isEmpty({ orders, esims, activations, passports }: Subjects): boolean {
  return orders.length + esims.length + activations.length + passports.length === 0;
}

/** The number of a passport with all but its end hidden; null where it was purged. */
export function maskedNumber(q: Read, row: PassportRow | ActivationRow): string | null {
  const number =
    "number_index" in row ? openPassport(q, row).passport_no : openKyc(q, row.sealed)?.reveal().passport_no;
  return number === null || number === undefined
    ? null
    : `${"•".repeat(Math.max(0, number.length - 3))}${number.slice(-3)}`;
}

function nothing(): Subjects {
  return { orders: [], esims: [], activations: [], passports: [] };
}

async function ofMail(q: Read, email: string): Promise<Subjects> {
  const pattern = (member: string) => {
    const words = `"${member}":${JSON.stringify(email)}`.toLowerCase();
    return `%${words.replaceAll(/[!%_]/g, "!$&")}%`;
  };
  const items = await byMail.items(q, { email, pattern: pattern("customer_email") });
  return {
    ...nothing(),
    orders: [...(await byMail.orders(q, { email, pattern: pattern("email") })), ...(await ordersWithIds(q, items))],
    activations: await byMail.activations(q, { email, pattern: "" }),
  };
}

async function ofWord(q: Read, typed: string): Promise<Subjects> {
  const [id, number] = [typed.toLowerCase(), typed.toUpperCase()];
  const mark = numberIndex(q, typed);
  const about: { id: string | null }[] = [{ id }];
  for (const query of subjectOf) about.push(...(await query(q, { word: id })));
  const owners: { id: string | null }[] = [...about];
  for (const query of orderOf) for (const one of about) owners.push(...(await query(q, { word: one.id ?? "" })));
  const found = nothing();
  found.orders.push(...(await orderBy.number(q, { word: number })), ...(await ordersWithIds(q, owners)));
  for (const one of about) {
    found.esims.push(...(await esimBy.id(q, { word: one.id ?? "" })));
    found.activations.push(...(await activationBy.id(q, { word: one.id ?? "" })));
  }
  found.esims.push(...(await esimBy.iccid(q, { word: typed })));
  found.activations.push(...(await activationBy.iccid(q, { word: typed })));
  found.activations.push(...(await activationBy.passport(q, { word: mark })));
  found.passports.push(...(await passportBy.id(q, { word: id })), ...(await passportBy.number(q, { word: mark })));
  return found;
}

/** Orders under a number of the partner's own: an external order id, or the key that it sent with the order. */
async function ownNumbers(q: Read, key: string): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  for (const partner_id of (await partnerNames(q)).keys()) {
    for (const environment of ["production", "sandbox"]) {
      for (const space of ["bulk", "single"])
        found.push(...(await byOwnNumber(q, { partner_id, environment, space, key })));
    }
  }
  return found;
}

async function ordersWithIds(q: Read, ids: { id: string | null }[]): Promise<OrderRow[]> {
  const orders: OrderRow[] = [];
  for (const id of new Set(ids.map((one) => one.id))) {
    const order = id === null ? null : first(await orderBy.id(q, { word: id }));
    if (order !== null) orders.push(order);
  }
  return orders;
}

/** An eSIM's story is its order's as well; an order's is that of its eSIMs. */
async function withOrdersAndEsims(q: Read, found: Subjects): Promise<Subjects> {
  const esims = [...found.esims];
  for (const order of found.orders) esims.push(...(await esimBy.order(q, { word: order.id })));
  const orders = [
    ...found.orders,
    ...(await ordersWithIds(
      q,
      found.esims.map((esim) => ({ id: esim.order_id })),
    )),
  ];
  return {
    orders: unique(orders),
    esims: unique(esims),
    activations: unique(found.activations),
    passports: unique(found.passports),
  };
}

function unique<T extends { id: string }>(rows: T[]): T[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()].slice(0, MOST_SUBJECTS);
}

import {
  type ActivationRow,
  activationById,
  activationsEndingIn,
  activationsOfIccid,
  activationsOfPassport,
  activationsOfRequest,
} from "../activations/activation.ts";
import { openKycIfReadable } from "../activations/identity.ts";
import { activationsCalledBack } from "../activations/reveal.ts";
import { type AuditLine, auditOfRequest } from "../audit/list.ts";
import { type EsimRow, esimsEndingIn, esimsOfIccid, findEsim, newestEsimsOfOrder } from "../esims/esim.ts";
import type { ActivationId, DeliveryId, EsimId, OrderId, OrderLineId, PartnerId, PassportId } from "../kernel/brand.ts";
import { environments } from "../kernel/environment.ts";
import { maskedNumber } from "../kernel/masked.ts";
import type { Owner } from "../kernel/owner.ts";
import { usedKeys } from "../orders/idempotency.ts";
import { findItem } from "../orders/items.ts";
import { findOrderByNumber, type OrderRow, ordersOfRequest } from "../orders/order.ts";
import { listPartners } from "../partners/partner.ts";
import { numberIndex, openPassportIfReadable, type PassportRow, passportsOfNumber } from "../passports/passport.ts";
import { findByKey } from "../store/rows.ts";
import { orderKeySpaces } from "../store/schema/values.ts";
import { indexScopes } from "../store/sealing/people.ts";
import type { Read } from "../store/store.ts";
import { itemsCalledBack } from "../supplier-requests/outcome.ts";
import { findNamed } from "./named-subjects.ts";
import { activationsOfDay, narrowed, severalIn } from "./several.ts";

/** Whose story is to be shown. */
export interface Subjects {
  orders: OrderRow[];
  /** Those that were meant; of an order that was meant, all of them. */
  esims: EsimRow[];
  activations: ActivationRow[];
  passports: PassportRow[];
  /** What a request that was meant put into the audit trail. */
  audited: AuditLine[];
  /** The kinds of which there are more than are here, or may be: not all that begin or end alike were opened. */
  truncated: SubjectKind[];
  /** Whom a record names, where a name or a number led to it; by the record's id. */
  people: Map<string, string>;
  /** Several records fit a name or the end of a number: they may be of different people. */
  ambiguous: boolean;
}

export const subjectKinds = ["order", "esim", "activation", "passport"] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** Most of a kind that one look-up follows: the newest. */
const MOST_SUBJECTS = 50;
/** Enough to see that there are more. */
const ONE_TOO_MANY = MOST_SUBJECTS + 1;

/**
 * Everything that `typed` may mean: an ICCID or its end, an order number (ours or the partner's own), a person's name,
 * e-mail address or telephone number, a passport, EID or tracking number, the id of an HTTP request, or of anything
 * that `ofId` knows; a name with the end of a number or a day, or an activation date alone.
 */
export async function findSubjects(q: Read, typed: string): Promise<Subjects> {
  const word = typed.trim();
  const single = joined(await ofPeople(q, word, null), await ofEnd(q, word, null));
  const loose = joined(single, await ofSeveral(q, word, null));
  if (word.includes("@")) return withOrdersAndEsims(q, loose);
  const named = await ofWord(q, word);
  // Partners choose the ids of their requests, and may take their own order numbers for them.
  const others = isEmpty(named) ? [await ofOwnNumber(q, word)] : [];
  const exact = [await ofRequest(q, word), ...others].reduce(joined, named);
  const found = unrepeated(joined(exact, loose));
  // A name or the end of a number may be of several: they are listed, and each one's own id leads to its story.
  if (counted(found) > 1 && counted(found) > counted(unrepeated(exact)))
    return newestOnly({ ...found, ambiguous: true });
  return withOrdersAndEsims(q, found);
}

/**
 * What one partner has in one environment under `typed`, which may be all that `findSubjects` knows but passport
 * numbers and the ids of requests: the newest 50 of each kind, without withdrawn passports.
 */
export async function findOwnSubjects(q: Read, typed: string, owner: Owner): Promise<Subjects> {
  const word = typed.trim();
  const people = await ofPeople(q, word, owner);
  const ends = joined(await ofEnd(q, word, owner), await ofSeveral(q, word, owner));
  const named = joined(await ofId(q, word.toLowerCase()), await ofNumber(q, word));
  const booked = { ...nothing(), orders: await ordersWithIds(q, await ownNumbers(q, word, [owner])) };
  const isOwn = (row: { partner_id: string | null; environment: string | null }) =>
    row.partner_id === owner.partnerId && row.environment === owner.environment;
  const { orders, esims, activations, passports, ...found } = [ends, named, booked].reduce(joined, people);
  return withOrdersAndEsims(q, {
    ...found,
    orders: orders.filter(isOwn),
    esims: esims.filter(isOwn),
    activations: activations.filter(isOwn),
    passports: passports.filter((row) => isOwn(row) && row.withdrawn_at === null),
  });
}

/** What names a person so, of one owner or of all. */
async function ofPeople(q: Read, typed: string, owner: Owner | null): Promise<Subjects> {
  const scopes = await indexScopes(q, owner ?? {});
  const { orders, activations, passports, people, unopened } = await findNamed(q, typed, scopes);
  const truncated = [...unopened].map((kind) => (kind === "order_item" ? "order" : kind));
  return { ...nothing(), orders, activations, passports, people, truncated };
}

/** Fewest digits of an ICCID's end that are looked up. */
const LEAST_END = 4;

/** What has an ICCID that ends so. */
async function ofEnd(q: Read, typed: string, owner: Owner | null): Promise<Subjects> {
  const digits = typed.replace(/[\s-]/g, "");
  if (!/^\d+$/.test(digits) || digits.length < LEAST_END) return nothing();
  return {
    ...nothing(),
    esims: await esimsEndingIn(q, { digits, owner, limit: ONE_TOO_MANY }),
    activations: await activationsEndingIn(q, { digits, owner, limit: ONE_TOO_MANY }),
  };
}

/** What fits a name, the end of a number and a day that were typed together, or a day alone. */
async function ofSeveral(q: Read, typed: string, owner: Owner | null): Promise<Subjects> {
  const several = severalIn(typed);
  if (several === null) return nothing();
  const { name, number, day } = several;
  if (name === "" && number === "") {
    const scopes = await indexScopes(q, owner ?? {});
    const window = { day: day ?? "", limit: ONE_TOO_MANY };
    return { ...nothing(), activations: await activationsOfDay(q, scopes, window) };
  }
  const first = name === "" ? number : name;
  const ends = name === "" ? await ofEnd(q, number, owner) : nothing();
  return narrowed(q, joined(await ofPeople(q, first, owner), ends), several);
}

function unrepeated(found: Subjects): Subjects {
  return {
    ...found,
    orders: unique(found.orders),
    esims: unique(found.esims),
    activations: unique(found.activations),
    passports: unique(found.passports),
  };
}

function counted({ orders, esims, activations, passports }: Subjects): number {
  return orders.length + esims.length + activations.length + passports.length;
}

/** What HTTP requests of this id made, changed or looked at. Callers choose their ids: it may be several requests'. */
async function ofRequest(q: Read, requestId: string): Promise<Subjects> {
  const audited = await auditOfRequest(q, requestId);
  let found: Subjects = {
    ...nothing(),
    orders: await ordersOfRequest(q, requestId, ONE_TOO_MANY),
    activations: await activationsOfRequest(q, requestId, ONE_TOO_MANY),
    audited,
  };
  const touched = new Set<string>(audited.map(({ target_id }) => target_id));
  for (const id of await activationsCalledBack(q, requestId, ONE_TOO_MANY)) touched.add(id);
  for (const id of await itemsCalledBack(q, requestId, ONE_TOO_MANY)) touched.add(id);
  for (const id of touched) found = joined(found, await ofId(q, id));
  return found;
}

/**
 * Everything that a word may mean: an ICCID, an order number, a passport number, or the id of an order, a line, an
 * item, an eSIM, an activation request, a passport, a ledger transaction, an event or a delivery.
 */
async function ofWord(q: Read, word: string): Promise<Subjects> {
  const found = joined(await ofId(q, word.toLowerCase()), await ofNumber(q, word));
  const mark = numberIndex(q, word);
  found.activations.push(...(await activationsOfPassport(q, mark, ONE_TOO_MANY)));
  found.passports.push(...(await passportsOfNumber(q, mark)));
  return found;
}

/** What has this order number or ICCID. */
async function ofNumber(q: Read, number: string): Promise<Subjects> {
  const found = nothing();
  add(found.orders, await findOrderByNumber(q, number));
  found.esims.push(...(await esimsOfIccid(q, number)));
  found.activations.push(...(await activationsOfIccid(q, number)));
  return found;
}

/** Orders under a number of the partner's own: an external order id, or the key that it sent with the order. */
async function ofOwnNumber(q: Read, key: string): Promise<Subjects> {
  const owners = [...(await partnerNames(q)).keys()].flatMap((partnerId) =>
    environments.toReversed().map((environment) => ({ partnerId, environment })),
  );
  return { ...nothing(), orders: await ordersWithIds(q, await ownNumbers(q, key, owners)) };
}

async function ownNumbers(q: Read, key: string, owners: readonly Owner[]): Promise<OrderId[]> {
  const found: OrderId[] = [];
  for (const { partnerId: partner_id, environment } of owners) {
    for (const space of orderKeySpaces) {
      const used = await usedKeys.get(q, { partner_id, environment, space, key });
      if (used !== null) found.push(used.order_id);
    }
  }
  return found;
}

/** Every partner's slug by its id. */
export async function partnerNames(q: Read): Promise<Map<PartnerId, string>> {
  return new Map((await listPartners(q, null)).map(({ id, slug }) => [id, slug]));
}

/** What one of our ids belongs to. Any text may come as one: only the id of a record finds it. */
async function ofId(q: Read, id: string): Promise<Subjects> {
  const about = [id, ...(await subjectsOf(q, id))];
  const owners = [...about];
  for (const one of about) owners.push(...(await ordersOf(q, one)));
  const found = nothing();
  found.orders.push(...(await ordersWithIds(q, owners)));
  for (const one of about) {
    add(found.esims, await findEsim(q, one as EsimId));
    add(found.activations, await activationById(q, one as ActivationId));
  }
  add(found.passports, await findByKey(q, "passports", { id: id as PassportId }));
  return found;
}

/** What an event or a delivery is about. */
async function subjectsOf(q: Read, id: string): Promise<string[]> {
  const delivery = await findByKey(q, "deliveries", { id: id as DeliveryId });
  const events = [
    await findByKey(q, "events", { id }),
    delivery === null ? null : await findByKey(q, "events", { id: delivery.event_id }),
  ];
  return events.flatMap((event) => event?.subject_id ?? []);
}

/** The order of an item, a line or a ledger transaction. */
async function ordersOf(q: Read, id: string): Promise<OrderId[]> {
  const parts = [
    await findItem(q, id),
    await findByKey(q, "orderLines", { id: id as OrderLineId }),
    await findByKey(q, "ledgerTransactions", { id }),
  ];
  return parts.flatMap((part) => part?.order_id ?? []);
}

/** The orders with these ids. */
async function ordersWithIds(q: Read, ids: readonly string[]): Promise<OrderRow[]> {
  const orders: OrderRow[] = [];
  for (const id of new Set(ids)) add(orders, await findByKey(q, "orders", { id: id as OrderId }));
  return orders;
}

function add<T>(rows: T[], row: T | null): void {
  if (row !== null) rows.push(row);
}

/** Whether nothing was found. */
export function isEmpty({ orders, esims, activations, passports, audited }: Subjects): boolean {
  return orders.length + esims.length + activations.length + passports.length + audited.length === 0;
}

/** The number of a passport with all but its end hidden; null where it was purged or cannot be read. */
export function maskedNumberOf(q: Read, row: PassportRow | ActivationRow): string | null {
  const number = numberOf(q, row);
  return number === null || number === undefined ? null : maskedNumber(number);
}

function numberOf(q: Read, row: PassportRow | ActivationRow): string | null | undefined {
  if ("number_index" in row) return openPassportIfReadable(q, row)?.passport_no;
  const identity = openKycIfReadable(q, row);
  return identity === "unreadable" ? null : identity?.reveal().passport_no;
}

/** What two look-ups found. */
function joined(a: Subjects, b: Subjects): Subjects {
  return {
    orders: [...a.orders, ...b.orders],
    esims: [...a.esims, ...b.esims],
    activations: [...a.activations, ...b.activations],
    passports: [...a.passports, ...b.passports],
    audited: [...a.audited, ...b.audited],
    truncated: [...a.truncated, ...b.truncated],
    people: new Map([...a.people, ...b.people]),
    ambiguous: a.ambiguous || b.ambiguous,
  };
}

/** The beginning of a look-up. */
function nothing(): Subjects {
  return {
    orders: [],
    esims: [],
    activations: [],
    passports: [],
    audited: [],
    truncated: [],
    people: new Map(),
    ambiguous: false,
  };
}

/** An eSIM's story is its order's as well; an order's is that of its eSIMs. The newest 50 of each kind. */
async function withOrdersAndEsims(q: Read, found: Subjects): Promise<Subjects> {
  const esims = [...found.esims];
  for (const order of found.orders) esims.push(...(await newestEsimsOfOrder(q, order, ONE_TOO_MANY)));
  const bought = found.esims.flatMap(({ order_id }) => order_id ?? []);
  return newestOnly({ ...found, orders: [...found.orders, ...(await ordersWithIds(q, bought))], esims });
}

/** The newest 50 of each kind. */
function newestOnly(found: Subjects): Subjects {
  const truncated = new Set(found.truncated);
  const newest = <T extends { id: string }>(kind: SubjectKind, rows: T[]): T[] => {
    const all = unique(rows).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    if (all.length > MOST_SUBJECTS) truncated.add(kind);
    return all.slice(0, MOST_SUBJECTS);
  };
  return {
    ...found,
    orders: newest("order", found.orders),
    esims: newest("esim", found.esims),
    activations: newest("activation", found.activations),
    passports: newest("passport", found.passports),
    truncated: [...truncated],
  };
}

function unique<T extends { id: string }>(rows: T[]): T[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

import { and, between, desc, eq, gte, lte, sql } from "drizzle-orm";
import type { EsimId, OrderId, OrderLineId } from "../kernel/brand.ts";
import { luhnDigit, luhnValid } from "../kernel/check-digits.ts";
import { type DigitCipher, digitCipher, FOURTEEN_DIGITS } from "../kernel/ff1.ts";
import { Problem } from "../kernel/problem.ts";
import { findByKey, insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { scheduledMethods } from "../store/schema/values.ts";
import { sealedTraveler } from "../store/sealing/people.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { storedValue } from "../store/stored-value.ts";
import type { Vault } from "../store/vault.ts";
import { COMPUTED, sealCodes, syntheticCodes } from "./sealed-codes.ts";

type OrderRow = Row<"orders">;
type EsimRow = Row<"esims">;

/** An order whose eSIMs are computed. */
export type SyntheticOrder = OrderRow & { first_unit: number };

/** Whether the eSIMs of an order are computed from it; else they are rows. */
export function isSynthetic(order: OrderRow): order is SyntheticOrder {
  return order.first_unit !== null;
}

const take = statement((db, t, slot: Slots<{ units: number }>) =>
  db
    .insert(t.settings)
    .values({ key: "sandbox_units", value: sql`cast(cast(${slot.units} as bigint) as text)` })
    .onConflictDoUpdate({
      target: t.settings.key,
      set: { value: sql`cast(cast(${t.settings.value} as bigint) + cast(${slot.units} as bigint) as text)` },
    })
    .returning({ value: t.settings.value }),
);

/**
 * Numbers `units` of a new sandbox order, one after the other over all orders, and returns the first number. A number
 * is never used again. Throws `conflict` when the 14 digits of an ICCID cannot hold them.
 */
export async function takeUnits(tx: Tx, units: number): Promise<number> {
  const taken = Number(first(await take(tx, { units }))?.value);
  refuseBeyond(taken);
  return taken - units;
}

/** Throws `conflict`, as `takeUnits` would, when there are no numbers left for so many units. Reads only. */
export async function requireUnits(q: Read, units: number): Promise<void> {
  refuseBeyond(Number((await storedValue(q, "sandbox_units")) ?? 0) + units);
}

function refuseBeyond(taken: number): void {
  if (taken <= FOURTEEN_DIGITS) return;
  const words = `The sandbox has ICCIDs for ${FOURTEEN_DIGITS} eSIMs, and this order would exceed them.`;
  throw new Problem("conflict", `${words} Order fewer, or ask the operator.`);
}

const linesOf = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select({ line: t.orderLines, product: t.products })
    .from(t.orderLines)
    .innerJoin(t.products, eq(t.products.id, t.orderLines.product_id))
    .where(eq(t.orderLines.order_id, slot.order_id))
    .orderBy(t.orderLines.position),
);

/** A line whose eSIMs are delivered: `count` of them, from index `from` within the order. */
interface PlacedLine {
  line: Row<"orderLines">;
  product: Row<"products">;
  from: number;
  count: number;
}

async function placedLines(q: Read, order: SyntheticOrder): Promise<PlacedLine[]> {
  let from = 0;
  const placed: PlacedLine[] = [];
  for (const { line, product } of await linesOf(q, { order_id: order.id })) {
    const shown = line.status === "fulfilled" && line.product_type !== "physical_sim";
    if (shown) placed.push({ line, product, from, count: line.assigned });
    from += line.quantity;
  }
  return placed;
}

const travelersFrom = statement((db, t, slot: Slots<{ line_id: OrderLineId; offset: number; limit: number }>) =>
  db
    .select({ id: t.orderItems.id, traveller_sealed: t.orderItems.traveller_sealed })
    .from(t.orderItems)
    .where(
      and(
        eq(t.orderItems.line_id, slot.line_id),
        gte(
          t.orderItems.position,
          sql`(select min(start.position) from ${t.orderItems} as start where start.line_id = ${slot.line_id})
            + cast(${slot.offset} as bigint)`,
        ),
      ),
    )
    .orderBy(t.orderItems.position)
    .limit(slot.limit),
);

/** The devices that units of a line are for, in order; null where there is none. */
async function eidsOf(q: Read, line: Row<"orderLines">, { offset, count }: { offset: number; count: number }) {
  if (!scheduledMethods.some((method) => method === line.delivery_method)) return new Array<null>(count).fill(null);
  const rows = await travelersFrom(q, { line_id: line.id, offset, limit: count });
  const eids = rows.map(({ id, traveller_sealed }) => sealedTraveler.open(q, id, traveller_sealed)?.eid_number ?? null);
  return Array.from({ length: count }, (_, at) => eids[at] ?? null);
}

const changed = statement((db, t, slot: Slots<{ order_id: OrderId; from: EsimId; to: EsimId }>) =>
  db
    .select()
    .from(t.esims)
    .where(and(eq(t.esims.order_id, slot.order_id), between(t.esims.id, slot.from, slot.to))),
);

/** A synthetic eSIM with its line and product. */
export interface SyntheticEsim {
  esim: EsimRow;
  line: Row<"orderLines">;
  product: Row<"products">;
}

/** The eSIMs of units `from` … `from + count - 1` of a line; one that was changed as its row says. */
async function esimsOfUnits(
  q: Read,
  order: SyntheticOrder,
  { line, product, from }: PlacedLine,
  { at, count }: { at: number; count: number },
): Promise<SyntheticEsim[]> {
  const eids = await eidsOf(q, line, { offset: at - from, count });
  const indexes = Array.from({ length: count }, (_, each) => at + each);
  const codes = codesOfUnits(q.vault, order, indexes);
  const [head, tail] = [codes[0], codes.at(-1)];
  if (head === undefined || tail === undefined) return [];
  const rows = await changed(q, { order_id: order.id, from: head.id, to: tail.id });
  const known = new Map(rows.map((row) => [row.id, row]));
  return codes.map(({ id, iccid }, each) => {
    const esim = known.get(id) ?? computed(order, line, { id, iccid, eid: eids[each] ?? null });
    return { esim, line, product };
  });
}

type Codes = Pick<EsimRow, "id" | "iccid" | "eid">;

function computed(order: SyntheticOrder, line: Row<"orderLines">, { id, iccid, eid }: Codes): EsimRow {
  const delivered_at = order.fulfilled_at ?? order.created_at;
  return {
    id,
    iccid,
    product_id: line.product_id,
    order_id: order.id,
    line_id: line.id,
    partner_id: order.partner_id,
    environment: "sandbox",
    eid,
    supplier: null,
    supplier_ref: null,
    cost: null,
    cost_currency: null,
    install_state: null,
    look_at: null,
    retired_at: null,
    sealed: COMPUTED,
    status: "inactive",
    status_at: null,
    created_at: delivered_at,
    assigned_at: delivered_at,
    activated_at: null,
    expires_at: null,
    used_mb: null,
    total_mb: null,
    usage_at: null,
    low_data_percent: null,
    expiry_notice: null,
    country: null,
    network: null,
    location_at: null,
  };
}

/** Which eSIMs of an order to read: those after the id `after`, of one line or of all. */
export interface EsimWindow {
  after: EsimId | null;
  limit: number;
  line?: OrderLineId | undefined;
}

/** Some delivered eSIMs of an order, in the order of its units. */
export async function syntheticPage(q: Read, order: SyntheticOrder, window: EsimWindow): Promise<SyntheticEsim[]> {
  const { after, limit, line } = window;
  const begin = after === null ? 0 : indexOfId(after) + 1;
  const page: SyntheticEsim[] = [];
  for (const placed of await placedLines(q, order)) {
    const at = Math.max(begin, placed.from);
    const count = Math.min(placed.from + placed.count - at, limit - page.length);
    if ((line !== undefined && placed.line.id !== line) || count <= 0) continue;
    page.push(...(await esimsOfUnits(q, order, placed, { at, count })));
  }
  return page;
}

/** The last delivered eSIMs of an order, at most `most`, last first. */
export async function lastSynthetic(q: Read, order: SyntheticOrder, most: number): Promise<EsimRow[]> {
  const last: EsimRow[] = [];
  for (const placed of (await placedLines(q, order)).toReversed()) {
    const count = Math.min(placed.count, most - last.length);
    const at = placed.from + placed.count - count;
    const some = await esimsOfUnits(q, order, placed, { at, count });
    last.push(...some.toReversed().map(({ esim }) => esim));
  }
  return last;
}

const orderOfUnit = statement((db, t, slot: Slots<{ unit: number }>) =>
  db.select().from(t.orders).where(lte(t.orders.first_unit, slot.unit)).orderBy(desc(t.orders.first_unit)).limit(1),
);

async function unitAt(q: Read, unit: number): Promise<SyntheticEsim | null> {
  const order = first(await orderOfUnit(q, { unit }));
  if (order === null || !isSynthetic(order)) return null;
  const at = unit - order.first_unit;
  const placed = (await placedLines(q, order)).find(({ from, count }) => at >= from && at < from + count);
  return placed === undefined ? null : first(await esimsOfUnits(q, order, placed, { at, count: 1 }));
}

/** The delivered synthetic eSIM with this ICCID; null: there is none. */
export async function syntheticByIccid(q: Read, iccid: string): Promise<SyntheticEsim | null> {
  const unit = unitOfIccid(q.vault, iccid);
  return unit === null ? null : unitAt(q, unit);
}

/** The delivered synthetic eSIM with this id; null: there is none. */
export async function syntheticById(q: Read, id: string): Promise<SyntheticEsim | null> {
  const unit = firstUnitOfId(q.vault, id);
  const found = unit === null ? null : await unitAt(q, unit + indexOfId(id));
  return found?.esim.id === id ? found : null;
}

/** Writes what changed of an eSIM. A synthetic one gets its row with its first change. */
export async function changeEsim(tx: Tx, esim: EsimRow, change: Partial<EsimRow>): Promise<void> {
  const stored = esim.environment !== "sandbox" || (await findByKey(tx, "esims", { id: esim.id })) !== null;
  if (stored) await updateRow(tx, "esims", { id: esim.id }, change);
  else await insert(tx, "esims", [{ ...esim, ...sealCodes(tx, esim.id, syntheticCodes(esim.iccid)), ...change }]);
}

/** The order that a synthetic eSIM is of, as far as its codes depend on it. */
interface NumberedOrder {
  /** See the column of orders. */
  first_unit: number;
  created_at: number;
  ahead_ms: number;
}

const PREFIX = "8999";
/** An id holds the index in 19 bits: more than the 500,000 units of the largest order. */
const INDEX_LOW = 2 ** 7;

const ciphers = new WeakMap<Vault, DigitCipher>();

function cipherOf(vault: Vault): DigitCipher {
  const known = ciphers.get(vault) ?? digitCipher(vault.subkey("synthetic-esims"));
  ciphers.set(vault, known);
  return known;
}

/** The ids and ICCIDs of an order's units at `indexes`; always the same. */
export function codesOfUnits(
  vault: Vault,
  order: NumberedOrder,
  indexes: readonly number[],
): { id: EsimId; iccid: string }[] {
  const [first = 0, ...numbers] = cipherOf(vault).encrypt([0, ...indexes].map((index) => order.first_unit + index));
  return numbers.map((number, at) => {
    const digits = PREFIX + String(number).padStart(14, "0");
    return { id: idOf(order, indexes[at] ?? 0, { first, mark: number % 256 }), iccid: digits + luhnDigit(digits) };
  });
}

/** The number of the sandbox's unit that an ICCID was made of; null: it is not one of a synthetic eSIM. */
export function unitOfIccid(vault: Vault, iccid: string): number | null {
  if (!/^8999\d{15}$/.test(iccid) || !luhnValid(iccid)) return null;
  return cipherOf(vault).decrypt(Number(iccid.slice(4, 18)));
}

/**
 * A UUIDv7 of the moment of the order, by the system's time. Its 74 free bits: the index (19), so that an order's ids
 * sort as its eSIMs do, the encrypted number of the order's first unit (47), and 8 bits of the unit's own encrypted
 * number.
 */
function idOf(order: NumberedOrder, index: number, { first, mark }: { first: number; mark: number }): EsimId {
  const time = (order.created_at - order.ahead_ms).toString(16).padStart(12, "0");
  const above = Math.floor(index / INDEX_LOW);
  const high = 2 ** 31 + (index % INDEX_LOW) * 2 ** 23 + Math.floor(first / 2 ** 24);
  const low = (first % 2 ** 24) * 256 + mark;
  const rest = hex(high, 8) + hex(low, 8);
  // The one place where the id of a synthetic eSIM gets its brand.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(above, 3)}-${rest.slice(0, 4)}-${rest.slice(4)}` as EsimId;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** The index within its order that an id would be of. */
export function indexOfId(id: string): number {
  return Number.parseInt(id.slice(15, 18), 16) * INDEX_LOW + (Math.floor(highWord(id) / 2 ** 23) % INDEX_LOW);
}

/** The number of its order's first unit that an id would be of; null: no synthetic eSIM has this id. */
export function firstUnitOfId(vault: Vault, id: string): number | null {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return null;
  const first = (highWord(id) % 2 ** 23) * 2 ** 24 + Math.floor(Number.parseInt(id.slice(28), 16) / 256);
  return first < FOURTEEN_DIGITS ? cipherOf(vault).decrypt(first) : null;
}

function highWord(id: string): number {
  return Number.parseInt(id.slice(19, 23) + id.slice(24, 28), 16);
}

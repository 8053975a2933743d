import { and, desc, eq } from "drizzle-orm";
import { type ActivationRow, activationById } from "../activations/activation.ts";
import { customerOf } from "../activations/customer.ts";
import { type EsimRow, newestEsimsOfOrder } from "../esims/esim.ts";
import { isCivilDate } from "../kernel/calendar-day.ts";
import { isoTime } from "../kernel/clock.ts";
import { numberEndsWith, phoneMatches } from "../kernel/people-keys.ts";
import { customerOf as orderCustomerOf, travelerOf } from "../orders/customer.ts";
import { itemsOfOrder } from "../orders/items.ts";
import { linesOfOrder, type OrderRow } from "../orders/order.ts";
import { openPassportIfReadable, type PassportRow } from "../passports/passport.ts";
import type { IndexScope } from "../store/sealing/people.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** What was typed together: at least two of a name, the end of a number and a day, or a day alone. */
export interface Several {
  /** An e-mail address, or words of a name. */
  name: string;
  number: string;
  /** YYYY-MM-DD. */
  day: string | null;
}

/** Fewest characters of a number's end. */
const LEAST_END = 4;

/** Reads "underwold 0789", "underwold 2027-12-24" or a day alone; null: it is one name or one number. */
export function severalIn(typed: string): Several | null {
  const words = typed.split(/\s+/).filter(Boolean);
  const days = words.filter(isCivilDate);
  const rest = words.filter((word) => !isCivilDate(word));
  const isNumber = (word: string) => /\p{N}/u.test(word) && !word.includes("@");
  const number = rest.filter(isNumber).join(" ");
  const name = rest.filter((word) => !isNumber(word)).join(" ");
  const [day = null] = days;
  if (days.length > 1 || (day === null && (name === "" || number === ""))) return null;
  if (number !== "" && number.replace(/[^\p{L}\p{N}]/gu, "").length < LEAST_END) return null;
  return { name, number, day };
}

interface Dated extends IndexScope {
  day: string;
  limit: number;
}

const idsOfDay = statement((db, t, slot: Slots<Dated>) =>
  db
    .select({ id: t.activations.id })
    .from(t.activations)
    .where(
      and(
        eq(t.activations.partner_id, slot.partner_id),
        eq(t.activations.environment, slot.environment),
        eq(t.activations.activation_date, slot.day),
      ),
    )
    .orderBy(desc(t.activations.created_at), desc(t.activations.id))
    .limit(slot.limit),
);

/** The newest requests for this activation date, of these partners and environments; each as many at most. */
export async function activationsOfDay(
  q: Read,
  scopes: readonly IndexScope[],
  { day, limit }: Pick<Dated, "day" | "limit">,
): Promise<ActivationRow[]> {
  const rows: ActivationRow[] = [];
  for (const { partner_id, environment } of scopes) {
    for (const { id } of await idsOfDay(q, { partner_id, environment, day, limit })) {
      const row = await activationById(q, id);
      if (row !== null) rows.push(row);
    }
  }
  return rows;
}

/** Records that a name or a number led to. */
interface Found {
  orders: OrderRow[];
  esims: EsimRow[];
  activations: ActivationRow[];
  passports: PassportRow[];
}

/** What fits the number and the day too. A day is that of the record (UTC), or its activation date. */
export async function narrowed<F extends Found>(q: Read, found: F, several: Several): Promise<F> {
  const orders: OrderRow[] = [];
  for (const order of found.orders) if (await orderFits(q, order, several)) orders.push(order);
  return {
    ...found,
    orders,
    esims: found.esims.filter((esim) => numberFits(several, [esim.iccid], []) && dayFits(several, esim.assigned_at)),
    activations: found.activations.filter((row) => activationFits(q, row, several)),
    passports: found.passports.filter((row) => passportFits(q, row, several)),
  };
}

function numberFits({ number }: Several, numbers: readonly (string | null)[], phones: readonly (string | null)[]) {
  if (number === "") return true;
  return numbers.some((each) => numberEndsWith(each, number)) || phones.some((each) => phoneMatches(each, number));
}

function dayFits({ day }: Several, at: number | null, dates: readonly string[] = []): boolean {
  return day === null || dates.includes(day) || (at !== null && isoTime(at).startsWith(day));
}

function activationFits(q: Read, row: ActivationRow, several: Several): boolean {
  const { customer_phone, mobile_number } = customerOf(q, row);
  const isNumbered = numberFits(several, [row.iccid], [customer_phone, mobile_number]);
  return isNumbered && dayFits(several, row.created_at, [row.activation_date]);
}

function passportFits(q: Read, row: PassportRow, several: Several): boolean {
  const number = openPassportIfReadable(q, row)?.passport_no ?? null;
  return numberFits(several, [number], []) && dayFits(several, row.created_at);
}

/** Most eSIMs of an order whose ICCIDs are looked at. */
const MOST_ESIMS = 500;

async function orderFits(q: Read, order: OrderRow, several: Several): Promise<boolean> {
  const travelers = (await itemsOfOrder(q, order.id)).flatMap((item) => travelerOf(q, item) ?? []);
  const dates = travelers.map(({ activation_date }) => activation_date);
  if (!dayFits(several, order.created_at, dates)) return false;
  const esims = await newestEsimsOfOrder(q, order, MOST_ESIMS);
  const lines = await linesOfOrder(q, order.id);
  const numbers = [
    order.order_number,
    ...esims.map(({ iccid }) => iccid),
    ...travelers.map(({ eid_number }) => eid_number),
    ...lines.map(({ shipping }) => shipping?.tracking_number ?? null),
  ];
  const phones = [orderCustomerOf(q, order)?.phone ?? null, ...travelers.map((one) => one.customer_phone)];
  return numberFits(several, numbers, phones);
}

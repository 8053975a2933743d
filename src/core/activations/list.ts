import { and, asc, count, desc, eq, gte, lte, type SQL, sql } from "drizzle-orm";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { ActivationStatus, ProcessingStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Activation, toActivation } from "./activation.ts";

/** Whose requests, which of them, and which page. */
export interface ActivationFilter extends Owner {
  limit: number;
  cursor?: string | undefined;
  iccid?: string | undefined;
  status?: ActivationStatus | undefined;
  processing_status?: ProcessingStatus | undefined;
  /** The first and the last activation date, YYYY-MM-DD. */
  activation_from?: string | undefined;
  activation_to?: string | undefined;
}

/** Contract: 200 of GET /activations, and the pagination object. */
export interface ActivationPage {
  data: Activation[];
  count: number;
  pagination: Pagination;
}

interface Narrowed {
  iccid: string;
  status: ActivationStatus;
  processing_status: ProcessingStatus;
}
type Window<K> = Owner & Narrowed & { to: string; key: K; id: string; limit: number };
type Narrowing = (t: Tables, slot: Pick<Slots<Window<string>>, keyof Narrowed>) => SQL | undefined;

const columns = ["iccid", "status", "processing_status"] as const satisfies (keyof Narrowed)[];
const narrowings: Record<keyof Narrowed, Narrowing> = {
  iccid: (t, slot) => eq(t.activations.iccid, slot.iccid),
  status: (t, slot) => eq(t.activations.status, slot.status),
  processing_status: (t, slot) => eq(t.activations.processing_status, slot.processing_status),
};

/** Newest first; every shape is prepared once. */
function newest(...narrowings: Narrowing[]) {
  return statement((db, t, slot: Slots<Window<number>>) =>
    db
      .select()
      .from(t.activations)
      .where(
        and(
          eq(t.activations.partner_id, slot.partnerId),
          eq(t.activations.environment, slot.environment),
          ...narrowings.map((narrowing) => narrowing(t, slot)),
          sql`(${t.activations.created_at}, ${t.activations.id}) < (${slot.key}, ${slot.id})`,
        ),
      )
      .orderBy(desc(t.activations.created_at), desc(t.activations.id))
      .limit(slot.limit),
  );
}

/** By activation date: an index leads to a range of them, however many requests there are. */
function byDate(...narrowings: Narrowing[]) {
  return statement((db, t, slot: Slots<Window<string>>) =>
    db
      .select()
      .from(t.activations)
      .where(
        and(
          eq(t.activations.partner_id, slot.partnerId),
          eq(t.activations.environment, slot.environment),
          ...narrowings.map((narrowing) => narrowing(t, slot)),
          lte(t.activations.activation_date, slot.to),
          sql`(${t.activations.activation_date}, ${t.activations.id}) > (${slot.key}, ${slot.id})`,
        ),
      )
      .orderBy(asc(t.activations.activation_date), asc(t.activations.id))
      .limit(slot.limit),
  );
}

/** A list for each set of columns that may narrow it, by their names. */
function shapesOf<S>(list: (...narrowings: Narrowing[]) => S): Map<string, S> {
  const sets: (keyof Narrowed)[][] = [[]];
  for (const column of columns) sets.push(...sets.map((set) => [...set, column]));
  return new Map(sets.map((set) => [set.join(), list(...set.map((column) => narrowings[column]))]));
}

const shapes = { newest: shapesOf(newest), byDate: shapesOf(byDate) };

function shapeOf<S>(of: Map<string, S>, narrowed: Partial<Narrowed>): S {
  const shape = of.get(columns.filter((column) => narrowed[column] !== undefined).join());
  if (shape === undefined) throw new Error("every set of columns has a list");
  return shape;
}

/** After every day of four digits. */
const LAST_DAY = "9999-12-31";

/**
 * A page of the owner's requests, newest first (contract: GET /activations); where activation dates are asked for, in
 * their order. Throws `invalid_cursor`.
 */
export async function listActivations(q: Read, filter: ActivationFilter): Promise<ActivationPage> {
  const { limit, cursor, ...narrowed } = filter;
  const { iccid = "", status = "pending", processing_status = "pending", partnerId, environment } = narrowed;
  const { activation_from, activation_to = LAST_DAY } = narrowed;
  // Slots that a shape does not use are not missed.
  const slots = { iccid, status, processing_status, to: activation_to, partnerId, environment };
  const asked = { limit, cursor, binding: { list: "activations", ...narrowed } };
  const isDated = activation_from !== undefined || narrowed.activation_to !== undefined;
  const { rows, pagination } = isDated
    ? await pageOf(
        { ...asked, start: { key: activation_from ?? "", id: "" } },
        (window) => shapeOf(shapes.byDate, narrowed)(q, { ...window, ...slots }),
        ({ activation_date: key, id }) => ({ key, id }),
      )
    : await pageOf(
        { ...asked, start: newestFirst },
        (window) => shapeOf(shapes.newest, narrowed)(q, { ...window, ...slots }),
        byCreation,
      );
  return { data: rows.map((row) => toActivation(q, row)), count: rows.length, pagination };
}

/** The first and the last activation date, YYYY-MM-DD. */
interface Days {
  from: string;
  to: string;
}

/** How many requests a day has, and how many of them can still be moved or cancelled. */
export interface DayOfActivations {
  date: string;
  requests: number;
  pending: number;
}

const countsByDay = statement((db, t, slot: Slots<Owner & Days>) =>
  db
    .select({
      date: t.activations.activation_date,
      requests: count(),
      pending: sql<number>`count(*) filter (where ${t.activations.status} = 'pending')`.mapWith(Number),
    })
    .from(t.activations)
    .where(
      and(
        eq(t.activations.partner_id, slot.partnerId),
        eq(t.activations.environment, slot.environment),
        gte(t.activations.activation_date, slot.from),
        lte(t.activations.activation_date, slot.to),
      ),
    )
    .groupBy(t.activations.activation_date)
    .orderBy(asc(t.activations.activation_date)),
);

/** The days of a range that have requests of the owner's, the first one first. */
export function activationsByDay(
  q: Read,
  { partnerId, environment, from, to }: Owner & Days,
): Promise<DayOfActivations[]> {
  return countsByDay(q, { partnerId, environment, from, to });
}

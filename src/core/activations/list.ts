import { and, asc, desc, eq, lte, type SQL, sql } from "drizzle-orm";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { ActivationStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Activation, toActivation } from "./activation.ts";

/** Whose requests, which of them, and which page. */
export interface ActivationFilter extends Owner {
  limit: number;
  cursor?: string | undefined;
  iccid?: string | undefined;
  status?: ActivationStatus | undefined;
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

type Window<K> = Owner & { iccid: string; status: ActivationStatus; to: string; key: K; id: string; limit: number };
type Narrowing = (t: Tables, slot: Pick<Slots<Window<string>>, "status" | "iccid">) => SQL | undefined;

const ofStatus: Narrowing = (t, slot) => eq(t.activations.status, slot.status);
const ofIccid: Narrowing = (t, slot) => eq(t.activations.iccid, slot.iccid);

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

function shapesOf<S>(list: (...narrowings: Narrowing[]) => S) {
  return { all: list(), status: list(ofStatus), iccid: list(ofIccid), both: list(ofIccid, ofStatus) };
}

const shapes = { newest: shapesOf(newest), byDate: shapesOf(byDate) };

/** After every day of four digits. */
const LAST_DAY = "9999-12-31";

/**
 * A page of the owner's requests, newest first (contract: GET /activations); where activation dates are asked for, in
 * their order. Throws `invalid_cursor`.
 */
export async function listActivations(q: Read, filter: ActivationFilter): Promise<ActivationPage> {
  const { limit, cursor, ...narrowed } = filter;
  const { iccid, status, activation_from, activation_to = LAST_DAY, partnerId, environment } = narrowed;
  const shape =
    iccid === undefined ? (status === undefined ? "all" : "status") : status === undefined ? "iccid" : "both";
  // Slots that a shape does not use are not missed.
  const slots = { iccid: iccid ?? "", status: status ?? "pending", to: activation_to, partnerId, environment };
  const asked = { limit, cursor, binding: { list: "activations", ...narrowed } };
  const isDated = activation_from !== undefined || narrowed.activation_to !== undefined;
  const { rows, pagination } = isDated
    ? await pageOf(
        { ...asked, start: { key: activation_from ?? "", id: "" } },
        (window) => shapes.byDate[shape](q, { ...window, ...slots }),
        ({ activation_date: key, id }) => ({ key, id }),
      )
    : await pageOf(
        { ...asked, start: newestFirst },
        (window) => shapes.newest[shape](q, { ...window, ...slots }),
        byCreation,
      );
  return { data: rows.map((row) => toActivation(q, row)), count: rows.length, pagination };
}

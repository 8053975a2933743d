import { and, desc, eq, type SQL, sql } from "drizzle-orm";
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
}

/** Contract: 200 of GET /activations, and the pagination object. */
export interface ActivationPage {
  data: Activation[];
  count: number;
  pagination: Pagination;
}

type Window = Owner & { iccid: string; status: ActivationStatus; key: number; id: string; limit: number };

/** A list narrowed by `extra`; every shape is prepared once. */
function listed(extra: (t: Tables, slot: Slots<Window>) => (SQL | undefined)[]) {
  return statement((db, t, slot: Slots<Window>) =>
    db
      .select()
      .from(t.activations)
      .where(
        and(
          eq(t.activations.partner_id, slot.partnerId),
          eq(t.activations.environment, slot.environment),
          ...extra(t, slot),
          sql`(${t.activations.created_at}, ${t.activations.id}) < (${slot.key}, ${slot.id})`,
        ),
      )
      .orderBy(desc(t.activations.created_at), desc(t.activations.id))
      .limit(slot.limit),
  );
}

const shapes = {
  all: listed(() => []),
  status: listed((t, slot) => [eq(t.activations.status, slot.status)]),
  iccid: listed((t, slot) => [eq(t.activations.iccid, slot.iccid)]),
  both: listed((t, slot) => [eq(t.activations.iccid, slot.iccid), eq(t.activations.status, slot.status)]),
};

/** A page of the owner's requests, newest first (contract: GET /activations). Throws `invalid_cursor`. */
export async function listActivations(q: Read, filter: ActivationFilter): Promise<ActivationPage> {
  const { limit, cursor, iccid, status, partnerId, environment } = filter;
  const binding = { list: "activations", partnerId, environment, iccid, status };
  const shape =
    iccid === undefined ? (status === undefined ? "all" : "status") : status === undefined ? "iccid" : "both";
  // Slots that a shape does not use are not missed.
  const narrowed = { iccid: iccid ?? "", status: status ?? "pending" };
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start: newestFirst },
    (window) => shapes[shape](q, { ...window, ...narrowed, partnerId, environment }),
    byCreation,
  );
  return { data: rows.map((row) => toActivation(q, row)), count: rows.length, pagination };
}

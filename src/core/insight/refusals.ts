import { and, desc, eq, gte, lt, lte } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { insert } from "../store/rows.ts";
import type { Lane } from "../store/schema/lanes.ts";
import type { NewRow, Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** A request of a partner that was refused, as a daemon notes it. */
export type RefusedRequest = NewRow<"refusedRequests">;

/** How long refused requests are kept (ms). */
const KEPT_MS = 86_400_000;

/** How many are kept at most of a partner in an environment: the newest. */
export const MOST_REFUSED = 200;

type Of = { partner_id: PartnerId; environment: Environment };

const dropBefore = statement((db, t, slot: Slots<{ before: string }>) =>
  db.delete(t.refusedRequests).where(lt(t.refusedRequests.id, slot.before)),
);

const newest = statement((db, t, slot: Slots<Of & { from: string; limit: number }>) =>
  db
    .select()
    .from(t.refusedRequests)
    .where(
      and(
        eq(t.refusedRequests.partner_id, slot.partner_id),
        eq(t.refusedRequests.environment, slot.environment),
        gte(t.refusedRequests.id, slot.from),
      ),
    )
    .orderBy(desc(t.refusedRequests.id))
    .limit(slot.limit),
);

const dropUpTo = statement((db, t, slot: Slots<Of & { last: string }>) =>
  db
    .delete(t.refusedRequests)
    .where(
      and(
        eq(t.refusedRequests.partner_id, slot.partner_id),
        eq(t.refusedRequests.environment, slot.environment),
        lte(t.refusedRequests.id, slot.last),
      ),
    ),
);

/** Keeps what a daemon noted; drops what is a day old, and what is beyond the newest of each owner. */
export async function addRefusedRequests(tx: Tx, requests: readonly RefusedRequest[]): Promise<void> {
  await insert(tx, "refusedRequests", requests);
  await dropBefore(tx, { before: firstUuidOf(tx.now - KEPT_MS) });
  const owners = new Map(requests.map((one) => [`${one.partner_id} ${one.environment}`, one]));
  for (const { partner_id, environment } of owners.values()) {
    const of = { partner_id, environment };
    const last = (await newest(tx, { ...of, from: "", limit: MOST_REFUSED + 1 }))[MOST_REFUSED];
    if (last !== undefined) await dropUpTo(tx, { ...of, last: last.id });
  }
}

addRefusedRequests.lane = (): Lane => ({ kind: "requestCounts", key: "" });

/** Requests of an owner that were refused in the last 24 hours, newest first: the newest 200. */
export async function refusedRequests(q: Read, { partnerId, environment }: Owner) {
  const from = firstUuidOf(q.now - KEPT_MS);
  const rows = await newest(q, { partner_id: partnerId, environment, from, limit: MOST_REFUSED });
  return rows.map(toRefusal);
}

function toRefusal({ client_id, method, route, status, problem, request_id, at }: Row<"refusedRequests">) {
  return { at: isoTime(at), method, route, status, problem, client_id, request_id };
}

/** One of them. */
export type Refusal = ReturnType<typeof toRefusal>;

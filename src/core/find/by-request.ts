import { desc, eq } from "drizzle-orm";
import { auditOfRequest } from "../audit/list.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { joined, nothing, ONE_TOO_MANY, ofId, type Subjects } from "./subjects.ts";

type Request = Slots<{ request_id: string }>;

const orders = statement((db, t, slot: Request) =>
  db
    .select()
    .from(t.orders)
    .where(eq(t.orders.request_id, slot.request_id))
    .orderBy(desc(t.orders.id))
    .limit(ONE_TOO_MANY),
);

const activations = statement((db, t, slot: Request) =>
  db
    .select()
    .from(t.activations)
    .where(eq(t.activations.request_id, slot.request_id))
    .orderBy(desc(t.activations.id))
    .limit(ONE_TOO_MANY),
);

/** What callbacks of carriers and suppliers were about. */
const calledBack = [
  statement((db, t, slot: Request) =>
    db
      .select({ id: t.activationAttempts.activation_id })
      .from(t.activationAttempts)
      .where(eq(t.activationAttempts.request_id, slot.request_id))
      .orderBy(desc(t.activationAttempts.id))
      .limit(ONE_TOO_MANY),
  ),
  statement((db, t, slot: Request) =>
    db
      .select({ id: t.itemAttempts.item_id })
      .from(t.itemAttempts)
      .where(eq(t.itemAttempts.request_id, slot.request_id))
      .orderBy(desc(t.itemAttempts.id))
      .limit(ONE_TOO_MANY),
  ),
];

/** What HTTP requests of this id made, changed or looked at. Callers choose their ids: it may be several requests'. */
export async function ofRequest(q: Read, requestId: string): Promise<Subjects> {
  const audited = await auditOfRequest(q, requestId);
  let found: Subjects = {
    ...nothing(),
    orders: await orders(q, { request_id: requestId }),
    activations: await activations(q, { request_id: requestId }),
    audited,
  };
  const touched = new Set<string>(audited.map(({ target_id }) => target_id));
  for (const query of calledBack) for (const { id } of await query(q, { request_id: requestId })) touched.add(id);
  for (const id of touched) {
    found = joined(found, await ofId(q, id));
  }
  return found;
}

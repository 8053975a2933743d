import { desc, eq } from "drizzle-orm";
import { auditOfRequest } from "../../audit/list.ts";
import { type Slots, statement } from "../../store/statement.ts";
import type { Read } from "../../store/store.ts";
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

/** What HTTP requests of this id made, changed or looked at. Callers choose their ids: it may be several requests'. */
export async function ofRequest(q: Read, requestId: string): Promise<Subjects> {
  const audited = await auditOfRequest(q, requestId);
  let found: Subjects = {
    ...nothing(),
    orders: await orders(q, { request_id: requestId }),
    activations: await activations(q, { request_id: requestId }),
    audited,
  };
  for (const id of new Set(audited.map(({ target_id }) => target_id))) {
    found = joined(found, await ofId(q, id));
  }
  return found;
}

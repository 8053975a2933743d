import { desc, eq } from "drizzle-orm";
import { emailKey } from "../kernel/search-keys.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { nothing, ONE_TOO_MANY, ordersWithIds, type Subjects } from "./subjects.ts";

type Mail = Slots<{ email: string }>;

const orders = statement((db, t, slot: Mail) =>
  db.select().from(t.orders).where(eq(t.orders.email_key, slot.email)).orderBy(desc(t.orders.id)).limit(ONE_TOO_MANY),
);

/** A traveller may have many items in one order. */
const MOST_ITEMS = 500;

const items = statement((db, t, slot: Mail) =>
  db
    .select({ id: t.orderItems.order_id })
    .from(t.orderItems)
    .where(eq(t.orderItems.email_key, slot.email))
    .orderBy(desc(t.orderItems.id))
    .limit(MOST_ITEMS),
);

const activations = statement((db, t, slot: Mail) =>
  db
    .select()
    .from(t.activations)
    .where(eq(t.activations.email_key, slot.email))
    .orderBy(desc(t.activations.id))
    .limit(ONE_TOO_MANY),
);

/** What names a person by this address: as an order's customer, a traveller, or whose SIM is activated. */
export async function ofMail(q: Read, address: string): Promise<Subjects> {
  const email = emailKey(address) ?? "";
  const travelling = await items(q, { email });
  return {
    ...nothing(),
    orders: [...(await orders(q, { email })), ...(await ordersWithIds(q, travelling))],
    activations: await activations(q, { email }),
    truncated: travelling.length === MOST_ITEMS ? ["order"] : [],
  };
}

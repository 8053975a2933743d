import { and, eq } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** A partner's own name for an order. `single`: an Idempotency-Key; `bulk`: an external_order_id. */
export interface OwnKey {
  partner_id: string;
  environment: string;
  space: "single" | "bulk";
  key: string;
}

const keyUsed = statement((db, t, slot: Slots<OwnKey>) =>
  db
    .select({ payload_hash: t.idempotencyKeys.payload_hash, order_id: t.idempotencyKeys.order_id })
    .from(t.idempotencyKeys)
    .where(
      and(
        eq(t.idempotencyKeys.partner_id, slot.partner_id),
        eq(t.idempotencyKeys.environment, slot.environment),
        eq(t.idempotencyKeys.space, slot.space),
        eq(t.idempotencyKeys.key, slot.key),
      ),
    ),
);

/** The order that a key made, and the hash of what was asked for then; null: the key is free. */
export async function orderOfKey(q: Read, key: OwnKey): Promise<{ order_id: OrderId; payload_hash: string } | null> {
  return first(await keyUsed(q, { ...key }));
}

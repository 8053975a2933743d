import { count, isNotNull } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import { replaceLinkKey } from "../store/sealing/data-keys.ts";
import { first, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

const linked = statement((db, t, _slot) =>
  db.select({ many: count() }).from(t.esims).where(isNotNull(t.esims.order_id)),
);

/** How many eSIMs of orders have addresses that a rotation would end. */
export async function countLinks(q: Read, _input: null): Promise<number> {
  return first(await linked(q, {}))?.many ?? 0;
}

/**
 * Makes a new key for the addresses of QR codes and install pages. Older addresses lead nowhere from now on; the API
 * shows new ones. Returns the new key's ID.
 */
export async function rotateLinkKey(tx: Tx, input: { actor: Actor }): Promise<string> {
  const keyId = await replaceLinkKey(tx);
  await recordAudit(tx, { actor: input.actor, action: "keys.rotate-links", targetKind: "data_key", targetId: keyId });
  return keyId;
}

import type { FastifyRequest } from "fastify";
import type { OrderId } from "../../core/kernel/brand.ts";
import { auditCodesRead } from "../../core/orders/read-audit.ts";
import type { Store } from "../../core/store/store.ts";
import { actorOf, isLocal } from "../context/context.ts";
import { principalOf } from "../plugins/access.ts";

/**
 * Records how many activation codes of which orders a response shows. A partner reads its own; what the operator reads
 * in its name is in the audit trail.
 */
export async function noteReading(
  store: Store,
  request: FastifyRequest,
  shown: Iterable<readonly [OrderId, number]>,
): Promise<void> {
  const caller = principalOf(request);
  if (!isLocal(caller)) return;
  const { partnerId } = caller;
  for (const [orderId, codes] of shown) {
    if (codes === 0) continue;
    await store.write(auditCodesRead, { actor: actorOf(caller), partnerId, orderId, codes }, request.id, caller);
  }
}

import { and, eq, gt } from "drizzle-orm";
import type { EsimId, OrderId } from "../kernel/brand.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { activationCode } from "./esim.ts";
import { esimLinks } from "./links.ts";

const someOf = statement((db, t, slot: Slots<{ order_id: OrderId; after: string; limit: number }>) =>
  db
    .select({ id: t.esims.id, iccid: t.esims.iccid, smdp: t.esims.smdp_address, matching: t.esims.matching_id })
    .from(t.esims)
    .where(and(eq(t.esims.order_id, slot.order_id), gt(t.esims.id, slot.after)))
    .orderBy(t.esims.id)
    .limit(slot.limit),
);

/** An eSIM as events name it (contract: order.fulfilled). */
export interface EsimCode {
  iccid: string;
  activation_code: string;
  qr_code_url: string;
}

/** Some of an order's eSIMs, those after the id `after`; `last` is where to go on, null at the end. */
export async function esimCodes(
  q: Read,
  input: { orderId: OrderId; after: EsimId | null; limit: number; publicUrl: string },
): Promise<{ codes: EsimCode[]; last: EsimId | null }> {
  const rows = await someOf(q, { order_id: input.orderId, after: input.after ?? "", limit: input.limit });
  const codes = rows.map(({ id, iccid, smdp, matching }) => ({
    iccid,
    activation_code: activationCode({ smdp_address: smdp, matching_id: matching }),
    qr_code_url: esimLinks(q.vault, input.publicUrl, id).qr_code_url,
  }));
  return { codes, last: rows.length < input.limit ? null : (rows.at(-1)?.id ?? null) };
}

import { and, eq } from "drizzle-orm";
import { notFound } from "../kernel/problem.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

const byIccid = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db
    .select({
      esim: t.esims,
      line: { product_name: t.orderLines.product_name, product_sku: t.orderLines.product_sku },
      product: {
        validity_days: t.products.validity_days,
        data_amount_mb: t.products.data_amount_mb,
        activation_policy: t.products.activation_policy,
      },
    })
    .from(t.esims)
    // Until its line is fulfilled nobody may know of a code: such an eSIM is not there.
    .innerJoin(t.orderLines, and(eq(t.orderLines.id, t.esims.line_id), eq(t.orderLines.status, "fulfilled")))
    .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
    .where(eq(t.esims.iccid, slot.iccid)),
);

/** Every delivered eSIM with this ICCID: at most one real one; synthetic ones of the sandbox may meet. */
export function deliveredEsims(q: Read, iccid: string) {
  return byIccid(q, { iccid });
}

/** A delivered eSIM with what its order line and its product say of it. */
export type DeliveredEsim = Awaited<ReturnType<typeof deliveredEsims>>[number];

/** The real, delivered eSIM with this ICCID; null for synthetic ones too. */
export async function findRealEsim(q: Read, iccid: string): Promise<DeliveredEsim | null> {
  const rows = await deliveredEsims(q, iccid);
  return first(rows.filter(({ esim }) => esim.environment === "production"));
}

/** The same eSIM, which must be there. Throws `not_found`. */
export async function requireRealEsim(q: Read, iccid: string): Promise<DeliveredEsim> {
  const real = await findRealEsim(q, iccid);
  if (real === null) throw notFound(`delivered eSIM: ${iccid}`);
  return real;
}

import { and, asc, eq, gte } from "drizzle-orm";
import type { DeliveredEsim } from "../esims/delivered.ts";
import { type EsimAsked, requireOwnEsim, soldIn } from "../esims/status.ts";
import type { OrderId } from "../kernel/brand.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { ProductStatus, SourceStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type SupplierContact, supplierContact } from "../suppliers/supplier.ts";
import type { EsimRef } from "../supply/provider.ts";
import { sourceOf } from "./choose.ts";
import { type NewTopup, topupToReplay } from "./create.ts";
import { sandboxTopups } from "./sandbox-products.ts";
import { whyNotToppable } from "./toppable.ts";

/** A supplier that is to be asked what can be put on one of its eSIMs. */
export interface ToAsk {
  contact: SupplierContact;
  esim: EsimRef;
  orderId: OrderId;
}

/** A product of the catalog that a supplier also sells, and as what. */
export interface Candidate {
  product: Row<"products">;
  plan: string;
}

/** Where supplier has no list of top-ups, so many products are asked for one by one. */
const MOST_CANDIDATES = 20;

/** The products for an eSIM, or whom to ask for them. */
export type Fitting = { products: Row<"products">[] } | (ToAsk & { candidates: Candidate[] });

/** What one of the caller's eSIMs can be topped up with: nothing where it cannot be. Throws as `esimStatus` does. */
export async function fittingProducts(q: Read, asked: EsimAsked): Promise<Fitting> {
  const known = await requireOwnEsim(q, asked);
  if ((await whyNotToppable(q, known)) !== null) return { products: [] };
  if (asked.environment === "sandbox") return { products: await sandboxTopups(q, known.esim) };
  const toAsk = await supplierToAsk(q, known);
  return toAsk === null ? { products: [] } : { ...toAsk, candidates: await candidatesOf(q, known, toAsk) };
}

async function supplierToAsk(q: Read, { esim }: DeliveredEsim): Promise<ToAsk | null> {
  const { supplier, supplier_ref, iccid } = esim;
  const contact = supplier === null ? null : await supplierContact(q, supplier);
  return contact && { contact, esim: { iccid, reference: supplier_ref }, orderId: soldIn(esim) };
}

type Alike = {
  supplier: string;
  from: string;
  source: SourceStatus;
  status: ProductStatus;
  coverage: string;
  limit: number;
};

const alike = statement((db, t, slot: Slots<Alike>) =>
  db
    .select({ product: t.products, plan: t.productSources.supplier_sku })
    .from(t.productSources)
    .innerJoin(t.products, eq(t.products.id, t.productSources.product_id))
    .where(
      and(
        eq(t.productSources.supplier, slot.supplier),
        gte(t.productSources.supplier_sku, slot.from),
        eq(t.productSources.status, slot.source),
        eq(t.products.status, slot.status),
        eq(t.products.coverage_key, slot.coverage),
      ),
    )
    .orderBy(asc(t.productSources.supplier_sku), asc(t.productSources.product_id))
    .limit(slot.limit),
);

/** What the eSIM's supplier sells for the places where its own product is of use. */
async function candidatesOf(q: Read, { esim }: DeliveredEsim, { contact }: ToAsk): Promise<Candidate[]> {
  const own = await findByKey(q, "products", { id: esim.product_id });
  if (own === null) return [];
  const asked = { supplier: contact.name, from: "", source: "active", status: "active" } as const;
  return alike(q, { ...asked, coverage: own.coverage_key, limit: MOST_CANDIDATES });
}

/**
 * Whom to ask before a top-up is created, with the plan of its product; null: no one, since it was created before, is
 * the sandbox's, or is refused. Throws `idempotency_conflict`, and as `esimStatus` does.
 */
export async function askBefore(q: Read, asked: NewTopup): Promise<(ToAsk & { plan: string }) | null> {
  if (asked.environment === "sandbox" || (await topupToReplay(q, asked)) !== null) return null;
  const known = await requireOwnEsim(q, asked);
  if ((await whyNotToppable(q, known)) !== null) return null;
  const toAsk = await supplierToAsk(q, known);
  const source = toAsk && (await sourceOf(q, asked.productId, toAsk.contact.name));
  return toAsk && source && { ...toAsk, plan: source.supplier_sku };
}

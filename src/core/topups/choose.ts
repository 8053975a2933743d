import { and, eq } from "drizzle-orm";
import type { DeliveredEsim } from "../esims/delivered.ts";
import { soldIn } from "../esims/status.ts";
import type { ProductId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { invalid, type Problem } from "../kernel/problem.ts";
import { rateToday } from "../prices/rates.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Plan } from "../supply/provider.ts";
import { offerTopups } from "./offers.ts";
import { sandboxTopups } from "./sandbox-products.ts";
import { notToppable } from "./toppable.ts";

/** What a supplier says can be put on an eSIM: its top-up plans, or whether the plan of the chosen product can. */
export type Offer = { supplier: string } & ({ plans: readonly Plan[] } | { fits: boolean });

/** What an eSIM is topped up with. */
export interface Chosen {
  product: Row<"products">;
  /** Where it is bought, and at what cost; null: nowhere, as in the sandbox. */
  source: Pick<Row<"topups">, "supplier" | "supplier_sku" | "days" | "cost" | "cost_currency" | "fx_rate"> | null;
}

interface TopupChoice {
  environment: Environment;
  productId: string;
  offer: Offer | null;
}

/**
 * The product that an eSIM is topped up with, priced as its supplier has it now. Throws `validation` for one that does
 * not fit, `esim_not_toppable` where the supplier cannot be asked.
 */
export async function chooseProduct(tx: Tx, known: DeliveredEsim, asked: TopupChoice): Promise<Chosen> {
  if (asked.environment === "sandbox") {
    const product = (await sandboxTopups(tx, known.esim)).find(({ id }) => id === asked.productId);
    if (product === undefined) throw doesNotFit();
    return { product, source: null };
  }
  const { supplier, iccid } = known.esim;
  if (supplier === null) throw notToppable(iccid, "not_supported");
  const source = await sourceOf(tx, asked.productId, supplier);
  if (source === null) throw doesNotFit();
  if (asked.offer === null || asked.offer.supplier !== supplier) throw notToppable(iccid, "not_supported");
  const product = await offeredProduct(tx, known, { source, offer: asked.offer });
  const { cost, currency: cost_currency, supplier_sku, days } = (await sourceOf(tx, product.id, supplier)) ?? source;
  const fx_rate = cost_currency === null ? null : await rateToday(tx, cost_currency, product.currency);
  return { product, source: { supplier, supplier_sku, days, cost, cost_currency, fx_rate } };
}

function doesNotFit(): Problem {
  return invalid({ product_id: ["is no product that this eSIM can be topped up with"] });
}

type Known = { source: Row<"productSources">; offer: Offer };

async function offeredProduct(tx: Tx, { esim }: DeliveredEsim, { source, offer }: Known): Promise<Row<"products">> {
  if ("plans" in offer) {
    const plans = offer.plans.filter(({ plan }) => plan === source.supplier_sku);
    const products = await offerTopups(tx, { supplier: offer.supplier, orderId: soldIn(esim), plans });
    const product = products.find(({ id }) => id === source.product_id);
    if (product === undefined) throw doesNotFit();
    return product;
  }
  const product = await findByKey(tx, "products", { id: source.product_id });
  if (!offer.fits || product?.status !== "active" || source.status !== "active") throw doesNotFit();
  return product;
}

const bySupplier = statement((db, t, slot: Slots<{ product_id: string; supplier: string }>) =>
  db
    .select()
    .from(t.productSources)
    .where(and(eq(t.productSources.product_id, slot.product_id), eq(t.productSources.supplier, slot.supplier))),
);

/** As what a supplier sells a product; null: it does not. Callers may pass any text for the product. */
export async function sourceOf(q: Read, product: ProductId | string, supplier: string) {
  return first(await bySupplier(q, { product_id: product, supplier }));
}

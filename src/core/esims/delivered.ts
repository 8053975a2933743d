import { and, eq, inArray, ne, or } from "drizzle-orm";
import type { EsimId } from "../kernel/brand.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { scheduledMethods } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { syntheticByIccid } from "./synthetic.ts";

type EsimRow = Row<"esims">;

/** An eSIM with its order line and its product. */
function described({ esims, orderLines, products }: Tables) {
  const { validity_days, data_amount_mb, activation_policy } = products;
  return {
    esim: esims,
    line: { product_name: orderLines.product_name, product_sku: orderLines.product_sku },
    product: { validity_days, data_amount_mb, activation_policy },
  };
}

const byIccid = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db
    .select(described(t))
    .from(t.esims)
    .innerJoin(
      t.orderLines,
      and(
        eq(t.orderLines.id, t.esims.line_id),
        // Until its line is fulfilled no code may be shown: such an eSIM is not found. Travelers of one line are
        // served each on their own day, and activation.activated has announced each eSIM.
        or(eq(t.orderLines.status, "fulfilled"), inArray(t.orderLines.delivery_method, [...scheduledMethods])),
      ),
    )
    .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
    .where(eq(t.esims.iccid, slot.iccid)),
);

/** The eSIM that has an ICCID now comes first, then those that had it, the last one first. */
function presentFirst<T extends { esim: Pick<EsimRow, "retired_at"> }>(rows: T[]): T[] {
  const since = ({ esim }: T) => esim.retired_at ?? Number.MAX_SAFE_INTEGER;
  return rows.length < 2 ? rows : rows.toSorted((a, b) => since(b) - since(a));
}

/**
 * Every delivered eSIM with this ICCID: real ones, of which at most one has not ended, then at most one computed one;
 * synthetic ones from before they were computed may share it.
 */
export async function deliveredEsims(q: Read, iccid: string) {
  const stored = presentFirst(await byIccid(q, { iccid }));
  const synthetic = await syntheticByIccid(q, iccid);
  const known = synthetic === null || stored.some(({ esim }) => esim.id === synthetic.esim.id);
  return known ? stored : [...stored, synthetic];
}

/** A delivered eSIM with what its order line and its product say of it. */
export type DeliveredEsim = Awaited<ReturnType<typeof deliveredEsims>>[number];

/** The real, delivered eSIM that has this ICCID now, or had it last; null for synthetic ones too. */
export async function findRealEsim(q: Read, iccid: string): Promise<DeliveredEsim | null> {
  const rows = await deliveredEsims(q, iccid);
  return first(rows.filter(({ esim }) => esim.environment === "production"));
}

/** The same eSIM, which must be there. Throws `not_found`. */
export async function requireRealEsim(q: Read, iccid: string): Promise<DeliveredEsim> {
  const real = await findRealEsim(q, iccid);
  if (real === null)
    throw new Problem("not_found", `No delivered eSIM has ICCID ${iccid}.`, { members: { resource: "esim" } });
  return real;
}

const ofSupplier = statement((db, t, slot: Slots<{ iccid: string; supplier: string }>) =>
  db
    .select(described(t))
    .from(t.esims)
    .innerJoin(
      t.orderLines,
      and(
        eq(t.orderLines.id, t.esims.line_id),
        eq(t.orderLines.supplier, slot.supplier),
        // A product may name a supplier and come from stock all the same.
        ne(t.orderLines.delivery_method, "stock"),
      ),
    )
    .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
    .where(and(eq(t.esims.iccid, slot.iccid), eq(t.esims.environment, "production"))),
);

/**
 * A real eSIM that this supplier delivered, also while others of its order line are still to come: a traveler may use
 * the first of them already. Throws `not_found` for stock, other suppliers' and unknown ones alike.
 */
export async function requireSuppliedEsim(q: Read, input: { iccid: string; supplier: string }): Promise<DeliveredEsim> {
  const row = first(presentFirst(await ofSupplier(q, input)));
  if (row === null) throw notFound("esim");
  return row;
}

const byId = statement((db, t, slot: Slots<{ id: EsimId }>) =>
  db
    .select(described(t))
    .from(t.esims)
    .innerJoin(t.orderLines, eq(t.orderLines.id, t.esims.line_id))
    .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
    .where(eq(t.esims.id, slot.id)),
);

/** A sold eSIM that has a row, also while others of its order line are still to come; null: there is none. */
export async function soldEsim(q: Read, id: EsimId): Promise<DeliveredEsim | null> {
  return first(await byId(q, { id }));
}

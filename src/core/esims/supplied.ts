import { and, eq, isNull, or } from "drizzle-orm";
import type { EsimId, OrderId, OrderLineId, PartnerId, ProductId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { invalid, type Problem } from "../kernel/problem.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type EsimCodes, sealCodes } from "./sealed-codes.ts";

/** eSIMs that a supplier delivered, and the order line they are for. */
export interface SuppliedEsims {
  orderId: OrderId;
  lineId: OrderLineId;
  productId: ProductId;
  partnerId: PartnerId;
  supplier: string;
  eid: string | null;
  /** When the supplier is asked first about their use (ms); null: it cannot be asked. */
  lookAt: number | null;
  esims: SuppliedEsim[];
}

type SuppliedEsim = EsimCodes & { iccid: string; reference?: string | null };

/**
 * Writes eSIMs that a supplier delivered for an order line. Suppliers use ICCIDs of ended eSIMs again: then the ended
 * one stays as it is, and its ICCID names the new one from now on. Throws `validation` when another eSIM has it.
 */
export async function addSuppliedEsims(tx: Tx, input: SuppliedEsims): Promise<void> {
  for (const esim of input.esims) {
    await freeIccid(tx, input.supplier, esim);
    const id = newId<EsimId>(tx);
    await insert(tx, "esims", [
      {
        id,
        iccid: esim.iccid,
        ...sealCodes(tx, id, esim),
        product_id: input.productId,
        order_id: input.orderId,
        line_id: input.lineId,
        partner_id: input.partnerId,
        environment: "production",
        eid: input.eid,
        supplier: input.supplier,
        supplier_ref: esim.reference ?? null,
        look_at: input.lookAt,
        status: "inactive",
        created_at: tx.now,
        assigned_at: tx.now,
      },
    ]);
  }
}

/**
 * Puts another eSIM in the place of one that a supplier delivered: its ICCID and codes, and its supplier's name for it
 * if `by` has one; its id stays. Throws `validation` when the ICCID is that of a further eSIM.
 */
export async function replaceSupplied(
  tx: Tx,
  { id, iccid, supplier }: Pick<Row<"esims">, "id" | "iccid" | "supplier">,
  by: SuppliedEsim,
): Promise<void> {
  if (by.iccid !== iccid) await freeIccid(tx, supplier, by);
  const named = by.reference === undefined ? {} : { supplier_ref: by.reference };
  await updateRow(tx, "esims", { id }, { iccid: by.iccid, ...named, ...sealCodes(tx, id, by) });
}

const holders = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db
    .select({
      id: t.esims.id,
      status: t.esims.status,
      supplier: t.esims.supplier,
      supplier_ref: t.esims.supplier_ref,
    })
    .from(t.esims)
    .where(
      and(
        eq(t.esims.iccid, slot.iccid),
        or(isNull(t.esims.environment), eq(t.esims.environment, "production")),
        isNull(t.esims.retired_at),
      ),
    ),
);

/** Makes an ICCID that of a new eSIM, if no other one has it or an ended one of the same supplier had it. */
async function freeIccid(tx: Tx, supplier: string | null, { iccid, reference = null }: SuppliedEsim): Promise<void> {
  for (const holder of await holders(tx, { iccid })) {
    const another = reference !== null && holder.supplier_ref !== null && holder.supplier_ref !== reference;
    const ended = holder.status === "expired" && holder.supplier === supplier;
    if (!another || !ended) throw knownAlready(iccid);
    await updateRow(tx, "esims", { id: holder.id }, { retired_at: tx.now, look_at: null });
  }
}

function knownAlready(iccid: string): Problem {
  return invalid({ iccid: [`${iccid} belongs to another eSIM already`] });
}

import type { EsimId, OrderId, OrderLineId, PartnerId, ProductId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { invalid, type Problem } from "../kernel/problem.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Tx } from "../store/store.ts";
import { realEsimExists } from "./import-stock.ts";
import { type EsimCodes, sealCodes } from "./sealed-codes.ts";

/** eSIMs that a supplier delivered, and the order line they are for. */
export interface SuppliedEsims {
  orderId: OrderId;
  lineId: OrderLineId;
  productId: ProductId;
  partnerId: PartnerId;
  supplier: string;
  eid: string | null;
  esims: (EsimCodes & { iccid: string; reference?: string | null })[];
}

/** Writes eSIMs that a supplier delivered for an order line. Throws `validation` when one of them is known already. */
export async function addSuppliedEsims(tx: Tx, input: SuppliedEsims): Promise<void> {
  for (const esim of input.esims) {
    if (await realEsimExists(tx, esim.iccid)) throw knownAlready(esim.iccid);
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
        status: "inactive",
        created_at: tx.now,
        assigned_at: tx.now,
      },
    ]);
  }
}

/**
 * Puts another eSIM in the place of one that a supplier delivered: its ICCID and codes; its id stays. Throws
 * `validation` when the ICCID is that of a further eSIM.
 */
export async function replaceSupplied(
  tx: Tx,
  { id, iccid }: Pick<Row<"esims">, "id" | "iccid">,
  by: EsimCodes & { iccid: string },
): Promise<void> {
  if (by.iccid !== iccid && (await realEsimExists(tx, by.iccid))) throw knownAlready(by.iccid);
  await updateRow(tx, "esims", { id }, { iccid: by.iccid, ...sealCodes(tx, id, by) });
}

function knownAlready(iccid: string): Problem {
  return invalid({ iccid: [`${iccid} belongs to another eSIM already`] });
}

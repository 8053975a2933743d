import type { EsimId, OrderId, OrderLineId, PartnerId, ProductId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { invalid } from "../kernel/problem.ts";
import { insertRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { realEsimExists } from "./import-stock.ts";
import { type EsimCodes, sealCodes } from "./sealed-codes.ts";

/** eSIMs that a supplier delivered, and the order line they are for. */
export interface SuppliedEsims {
  orderId: OrderId;
  lineId: OrderLineId;
  productId: ProductId;
  partnerId: PartnerId;
  eid: string | null;
  esims: (EsimCodes & { iccid: string })[];
}

/** Writes eSIMs that a supplier delivered for an order line. Throws `validation` when one of them is known already. */
export async function addSuppliedEsims(tx: Tx, input: SuppliedEsims): Promise<void> {
  for (const esim of input.esims) {
    if (await realEsimExists(tx, esim.iccid))
      throw invalid({ iccid: [`${esim.iccid} belongs to another eSIM already`] });
    const id = newId<EsimId>(tx);
    await insertRow(tx, "esims", {
      id,
      iccid: esim.iccid,
      ...sealCodes(tx, id, esim),
      product_id: input.productId,
      order_id: input.orderId,
      line_id: input.lineId,
      partner_id: input.partnerId,
      environment: "production",
      eid: input.eid,
      status: "inactive",
      created_at: tx.now,
      assigned_at: tx.now,
    });
  }
}

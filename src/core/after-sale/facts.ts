import type { EsimRow } from "../esims/esim.ts";
import { findByKey } from "../store/rows.ts";
import type { Read } from "../store/store.ts";
import type { EsimFacts } from "./diagnose.ts";
import { lastReturn } from "./give-back.ts";

/** What is stored of an eSIM. */
export type StoredFacts = Omit<EsimFacts, "look" | "silence">;

/** Reads what is stored of eSIMs. */
export async function storedFacts(q: Read, esims: readonly EsimRow[]): Promise<StoredFacts[]> {
  const all: StoredFacts[] = [];
  for (const esim of esims) {
    const product = await findByKey(q, "products", { id: esim.product_id });
    const refund = await lastReturn(q, { esim_id: esim.id, kind: "refund" });
    const givenBack = refund?.outcome === "done";
    all.push({ esim, promisedMb: product?.data_amount_mb ?? 0, givenBack, now: q.now });
  }
  return all;
}

import { beginReturn, endReturn, type ReturnAnswer } from "../../../core/after-sale/give-back.ts";
import type { Repaid } from "../../../core/after-sale/given-back.ts";
import type { Actor } from "../../../core/audit/record.ts";
import type { EsimId } from "../../../core/kernel/brand.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { ReturnKind } from "../../../core/store/schema/values.ts";
import type { Store } from "../../../core/store/store.ts";
import { supplierContact } from "../../../core/suppliers/supplier.ts";
import type { Providers } from "./providers.ts";

/** How it ended; `since`: it did so before, at that moment, and nothing moved now. */
interface GivenBack {
  answer: ReturnAnswer;
  since: string | null;
}

interface GiveBackAsked {
  id: EsimId;
  kind: ReturnKind;
  repaid?: Repaid;
  actor: Actor;
  /** The HTTP request that it serves. */
  requestId?: string;
}

/**
 * Asks an eSIM's supplier to take it back, or for another one in its place; what it did is applied once. May be
 * repeated after an answer that was lost. Throws `not_found`, `conflict`, `validation`, `supplier_unreachable`.
 */
export async function giveBack(
  { store, providers }: { store: Pick<Store, "read" | "write">; providers: Pick<Providers, "of"> },
  { id, kind, repaid, actor, requestId }: GiveBackAsked,
): Promise<GivenBack> {
  const begun = await store.write(beginReturn, { id, kind, repaid, actor }, requestId);
  if ("answer" in begun) return begun;
  const { returnId, supplier, ref } = begun;
  const contact = await store.read(supplierContact, supplier);
  const provider = contact === null ? null : providers.of(contact);
  if (provider === null) {
    throw new Problem("supplier_unreachable", `${supplier} has no secret, or no address that may be used.`);
  }
  const returned = kind === "refund" ? await provider.refund(ref) : await provider.replace(ref);
  return { answer: await store.write(endReturn, { returnId, returned, repaid, actor }, requestId), since: null };
}

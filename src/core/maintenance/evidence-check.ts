import { type ChainCheck, type ChainFault, verifyChains } from "../evidence/verify.ts";
import { counted } from "../kernel/counted.ts";
import type { Read } from "../store/store.ts";
import { type Finding, fault, fine, named } from "./finding.ts";

/** Whether the audit trail and the ledger are as they were written; see `verifyChains` for `keyed`. */
export async function checkEvidence(q: Read, input: { keyed: boolean }): Promise<Finding> {
  const { ok, chains, rows, signatures, faults } = await verifyChains(q, input);
  if (ok) return fine("evidence", soundWords({ chains, rows, signatures }));
  const message = `The audit trail or the ledger was changed: ${named(faults.map(faultWords))}.`;
  return fault("evidence", message, "Keep the database as it is, see esimctl audit verify, and compare with a backup.");
}

/** What was verified, in words. */
export function soundWords({ chains, rows, signatures }: Pick<ChainCheck, "chains" | "rows" | "signatures">): string {
  const what = `${counted(rows, "row")} in ${counted(chains, "chain")}`;
  return `The audit trail and the ledger are as written: ${what}, ${counted(signatures, "signature")}.`;
}

/** A fault in one line. */
export function faultWords({ chain, message }: ChainFault): string {
  return chain === null ? message : `${chain}: ${message}`;
}

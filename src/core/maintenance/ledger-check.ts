import { counted } from "../kernel/counted.ts";
import type { Read } from "../store/store.ts";
import { checkWallets } from "../wallet/check.ts";
import { type Finding, fault, fine, named } from "./finding.ts";

/** Whether every balance is the sum of its postings, and every transaction sums to zero. */
export async function checkLedger(q: Read): Promise<Finding> {
  const { ok, wallets, unbalanced } = await checkWallets(q, { minimum: () => null });
  if (ok) return fine("ledger", `The ledger agrees with the balances of ${counted(wallets.length, "wallet")}.`);
  const wrong = wallets.filter((wallet) => !wallet.ok).map(({ partner, currency }) => `${partner} ${currency}`);
  const words = [
    ...(wrong.length > 0 ? [`balances of ${named(wrong)}`] : []),
    ...(unbalanced.length > 0 ? [`transactions ${named(unbalanced)}`] : []),
  ];
  const message = `The ledger does not agree: ${words.join("; ") || "postings to a wallet that is not there"}.`;
  return fault("ledger", message, "Stop serve, see esimctl wallet check, and restore a backup from before.");
}

import type { WalletTransaction } from "../../client/answers.ts";
import type { Column } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";

/** Movements of a wallet as a table. */
export const movementColumns: Column<WalletTransaction>[] = [
  { title: "at", value: (one) => moment(one.created_at) },
  { title: "kind", value: (one) => one.kind },
  { title: "amount", value: (one, sheet) => sheet.money(one.amount_cents, one.currency), align: "right" },
  { title: "balance", value: (one, sheet) => sheet.money(one.balance_after_cents, one.currency), align: "right" },
  { title: "order", value: (one) => one.order_number, spare: 1 },
  { title: "reference", value: (one) => one.reference, wraps: true, spare: 2 },
  { title: "transaction", value: (one) => one.id, spare: true },
];

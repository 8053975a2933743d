import { Type } from "typebox";
import { Cents, Currency, Nullable, named, Timestamp } from "./common.ts";

const WalletBalance = Type.Object(
  {
    currency: Currency,
    balance_cents: Cents,
    last_transaction_at: Nullable(Timestamp),
  },
  named("WalletBalance"),
);

/** Contract: Wallet balance. */
export const WalletBalances = Type.Object(
  {
    balances: Type.Array(WalletBalance),
    count: Type.Integer({ description: "Currencies", examples: [1] }),
  },
  named("WalletBalances"),
);

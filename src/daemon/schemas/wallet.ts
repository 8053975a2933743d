import { Type } from "typebox";
import { Cents, Currency, Nullable, Timestamp } from "./common.ts";

/** Contract: Wallet balance. */
export const WalletBalances = Type.Object({
  balances: Type.Array(
    Type.Object({ currency: Currency, balance_cents: Cents, last_transaction_at: Nullable(Timestamp) }),
  ),
  count: Type.Integer(),
});

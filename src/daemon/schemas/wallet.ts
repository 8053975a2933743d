import { Type } from "typebox";
import { fundingStatuses, ledgerKinds } from "../../core/store/schema/values.ts";
import { Cents, Currency, Moment, Nullable, named, OneOf, Pagination, pageQuery, Timestamp } from "./common.ts";

const WalletBalance = Type.Object(
  {
    currency: Currency,
    balance_cents: Cents,
    last_transaction_at: Nullable(Timestamp),
    credit: Type.Optional(
      Type.Object(
        {
          limit_cents: Type.Integer({ description: "What orders may draw in all", examples: [500_000] }),
          used_cents: Type.Integer({ description: "What is drawn and not repaid", examples: [12_000] }),
          available_cents: Type.Integer({ description: "What orders may still draw", examples: [488_000] }),
        },
        named("WalletCredit", { description: "Absent where the operator grants no credit line in this currency" }),
      ),
    ),
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

export const WalletTransactionQuery = Type.Object({
  ...pageQuery(),
  currency: Type.Optional(Type.String({ maxLength: 3, description: "Only in this currency", examples: ["AUD"] })),
  from: Type.Optional(Moment("At this time or later")),
  to: Type.Optional(Moment("Before this time, not at it")),
});

/** A movement of the wallet. */
export const WalletTransaction = Type.Object(
  {
    id: Type.String({ format: "uuid", examples: ["0199a0b1-0000-7000-8000-000000000003"] }),
    kind: OneOf(ledgerKinds, {
      description:
        "credit: a payment of yours was recorded; debit: a payout or a correction; charge: an order; topup: of an " +
        "eSIM; refund: of an order or a top-up; draw: from your credit line; repayment: back to it",
      examples: ["charge"],
    }),
    currency: Currency,
    amount_cents: Type.Integer({
      description: "Minor units of the currency, signed as it changed the wallet",
      examples: [-1250],
    }),
    balance_after_cents: Type.Integer({
      description: "What the wallet held after it, in minor units of the currency",
      examples: [98_750],
    }),
    reference: Nullable(
      Type.String({
        description: "Of a credit or debit; of an order its number, of a top-up its id",
        examples: ["ORD-20260301-7KQ2M"],
      }),
    ),
    order_id: Nullable(Type.String({ format: "uuid", examples: ["0199a0b1-0000-7000-8000-000000000001"] })),
    order_number: Nullable(Type.String({ examples: ["ORD-20260301-7KQ2M"] })),
    created_at: Timestamp,
  },
  named("WalletTransaction"),
);

/** A page of what moved the wallet. */
export const WalletTransactionPage = Type.Object(
  { data: Type.Array(WalletTransaction), pagination: Pagination },
  named("WalletTransactionPage"),
);

export const FundingAsked = Type.Object(
  {
    amount_cents: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Minor units of the currency",
      examples: [100_000],
    }),
    currency: Type.String({ description: "ISO 4217, upper case", examples: ["AUD"] }),
  },
  named("NewFundingRequest"),
);

/** Money that a partner announces. */
export const FundingRequest = Type.Object(
  {
    reference: Type.String({ description: "What your transfer has to name", examples: ["FND-7KQ2M9XB"] }),
    amount_cents: Cents,
    currency: Currency,
    status: OneOf(fundingStatuses, {
      description:
        "requested: it has not arrived; credited: your wallet holds it; cancelled: it is not expected any more",
      examples: ["requested"],
    }),
    requested_by: Type.String({
      description: "The credential that asked",
      examples: ["client:sk_live_7f3a"],
    }),
    created_at: Timestamp,
    settled_at: Nullable(Timestamp),
  },
  named("FundingRequest"),
);

export const FundingQuery = Type.Object(pageQuery());

export const FundingPage = Type.Object(
  { data: Type.Array(FundingRequest), pagination: Pagination },
  named("FundingRequestPage"),
);

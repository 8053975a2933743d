import { Type } from "typebox";
import { Cents, Currency, Nullable, named, Pagination, pageQuery } from "./common.ts";
import { WalletTransaction } from "./wallet.ts";

const CurrencyFilter = (description: string) =>
  Type.Optional(Type.String({ maxLength: 3, description, examples: ["AUD"] }));

export const StatementQuery = Type.Object({ ...pageQuery(), currency: CurrencyFilter("Only in this currency") });

export const StatementMonth = Type.Object({
  month: Type.String({
    pattern: "^\\d{4}-(0[1-9]|1[0-2])$",
    errorMessage: "must be a month as 2026-03",
    description: "A month of UTC, the present one at the latest",
    examples: ["2026-03"],
  }),
});

export const StatementCurrency = Type.Object({
  currency: CurrencyFilter("Needed where the partner has wallets in several currencies"),
});

const figures = {
  month: Type.String({ description: "Of UTC", examples: ["2026-03"] }),
  currency: Currency,
  opening_cents: {
    ...Cents,
    description: "What the wallet held when the month began, in minor units of the currency",
    examples: [100_000],
  },
  closing_cents: {
    ...Cents,
    description: "What it held when the month ended, or holds now: what the next month opens with",
    examples: [98_750],
  },
  movement_count: Type.Integer({ examples: [1] }),
  finished: Type.Boolean({
    description: "True an hour after the month has ended: its statement never changes from then on",
    examples: [true],
  }),
};

/** A page of the months of which there are statements. */
export const StatementPage = Type.Object(
  { data: Type.Array(Type.Object(figures, named("StatementFigures"))), pagination: Pagination },
  named("StatementPage"),
);

/** The statement of a month as JSON. */
export const Statement = Type.Object(
  {
    ...figures,
    movements: Type.Array(WalletTransaction, { description: "Oldest first" }),
    hash: Nullable(
      Type.String({
        description: "SHA-256 of the CSV without its last line; null until the month is finished",
        examples: ["6f1ed002ab5595859014ebf0951522d9f1a2a2c1c6f4c2a3d1b8a9c0e7d6f5a4"],
      }),
    ),
  },
  named("Statement"),
);

/** The forms of a statement by media type; each is sent as it is, never serialized. */
export const StatementForms = {
  description: "The statement",
  content: {
    "application/json": { schema: Statement },
    "text/csv": {
      schema: Type.String({ description: "A line of names, the opening, movements, the closing, the hash" }),
    },
    "application/pdf": { schema: Type.Unsafe<Buffer>({ description: "Pages to print, of 10,000 movements at most" }) },
  },
};

import { Type } from "typebox";
import { MOST_LABEL } from "../../core/credentials/create.ts";
import { scopes } from "../../core/credentials/scopes.ts";
import { environments } from "../../core/kernel/environment.ts";
import { Cents, Currency, Nullable, named, OneOf, Pagination, pageQuery, Timestamp } from "./common.ts";

const ClientId = Type.String({ minLength: 1, maxLength: 100, examples: ["sk_test_5f0c9e2a7b14"] });
const Scopes = Type.Array(OneOf(scopes), {
  minItems: 1,
  maxItems: 100,
  description: "What it may ask for",
  examples: [["read:products", "write:orders"]],
});

/** Body of POST /credentials. */
export const NewCredential = Type.Object(
  {
    environment: OneOf(environments, { description: "Production only once the operator enabled it" }),
    scopes: Type.Optional(Scopes),
    description: Type.Optional(Type.String({ maxLength: MOST_LABEL, examples: ["Web shop"] })),
  },
  named("NewCredential"),
);

const Amount = (description: string) => Nullable(Type.String({ description, examples: ["200.00"] }));

const SpendCap = Type.Object(
  {
    currency: Nullable(Type.String({ description: "null: every currency without a cap of its own" })),
    per_order: Amount("What one order may cost: a decimal in the currency's own units"),
    per_day: Amount("What the orders of one UTC day may cost"),
  },
  named("SpendCap"),
);

const Spent = Type.Object(
  {
    currency: Currency,
    spent_cents: Cents,
    cap_cents: Nullable(Type.Integer({ description: "Minor units; null: no cap per day", examples: [100_000] })),
    resets_at: Timestamp,
  },
  named("SpentToday"),
);

const GuardRails = Type.Object(
  {
    addresses: Type.Unsafe<string[] | null>({
      type: ["array", "null"],
      items: { type: "string" },
      description: "Networks that it may be used from, in CIDR notation; null: any",
      examples: [["203.0.113.0/24", "2001:db8::/32"]],
    }),
    expires_at: Nullable(Timestamp),
    spend_caps: Type.Array(SpendCap, { description: "Empty: orders may cost any amount" }),
    spent_today: Type.Array(Spent, { description: "What counts against the caps per day" }),
    guarded_by: Nullable(
      Type.String({ description: "The credential that has these guard rails and shares its caps; null: its own" }),
    ),
  },
  named("GuardRails", { description: "What restricts the credential; set by the operator" }),
);

const credential = {
  client_id: ClientId,
  environment: OneOf(environments),
  scopes: Scopes,
  description: Nullable(Type.String({ examples: ["Web shop"] })),
  status: OneOf(["active", "revoked", "expired"]),
  guard_rails: GuardRails,
  identity: Type.Boolean({ description: "False: passports and submitting or editing activations are refused to it" }),
  created_at: Timestamp,
  rotated_at: Nullable(Timestamp),
};

/** A credential without its secret. */
export const Credential = Type.Object(credential, named("Credential"));

/** A credential that was created, or whose secret was replaced. */
export const CredentialSecret = Type.Object(
  {
    ...credential,
    client_secret: Type.String({
      description: "It is shown this once",
      examples: ["3q2bK8xLrNq5sW7uEyAaI0p6mJr0cVYw0T9d3h0b4Qk"],
    }),
  },
  named("CredentialSecret"),
);

export const CredentialPage = Type.Object(
  { data: Type.Array(Credential), pagination: Pagination },
  named("CredentialPage"),
);

export const CredentialQuery = Type.Object({ ...pageQuery() });

export const CredentialParams = Type.Object({ client_id: ClientId });

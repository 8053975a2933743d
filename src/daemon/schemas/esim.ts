import { Type } from "typebox";
import { esimActivationStatuses, esimStatuses } from "../../core/store/schema/values.ts";
import { Nullable, named, OneOf, Timestamp, UuidOf } from "./common.ts";

/** Not checked here: a malformed one is its own problem, `invalid_iccid`. */
export const IccidParams = Type.Object({
  iccid: Type.String({ description: "19 or 20 digits", examples: ["8944590004463637008"] }),
});

const Location = Type.Unsafe<{ country: string | null; network: string | null; updated_at: string | null } | null>({
  ...named("EsimLocation"),
  type: ["object", "null"],
  description: "Where it was last seen; null: nowhere yet",
  required: ["country", "network", "updated_at"],
  properties: {
    country: Nullable(Type.String({ examples: ["DE"] })),
    network: Nullable(Type.String({ examples: ["Alpenfunk"] })),
    updated_at: Nullable(Timestamp),
  },
});

export const DataUsage = Type.Object(
  {
    total_mb: Type.Number({ examples: [5120] }),
    used_mb: Type.Number({ examples: [1922] }),
    remaining_mb: Type.Number({ examples: [3198] }),
    updated_at: Nullable(Timestamp),
  },
  named("DataUsage"),
);

/** Contract: eSIM status record. */
export const EsimStatus = Type.Object(
  {
    iccid: Type.String({ examples: ["8944590004463637008"] }),
    order_id: UuidOf<"order">("The order that delivered it"),
    status: OneOf(esimStatuses),
    activation_status: OneOf(esimActivationStatuses, { examples: ["activated"] }),
    activation_policy: Type.String({ examples: ["on_first_use"] }),
    activated_at: Nullable(Timestamp),
    expires_at: Nullable(Timestamp),
    data_usage: DataUsage,
    location: Location,
    is_test: Type.Optional(Type.Boolean({ description: "Sandbox only: cannot be installed" })),
  },
  named("EsimStatus"),
);

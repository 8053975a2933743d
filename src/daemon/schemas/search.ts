import { Type } from "typebox";
import { subjectKinds } from "../../core/find/subjects.ts";
import { activationStatuses, esimStatuses, orderStatuses } from "../../core/store/schema/values.ts";
import { Nullable, named, OneOf } from "./common.ts";

const statuses = [...new Set([...orderStatuses, ...esimStatuses, ...activationStatuses, "received" as const])] as const;

export const SearchQuery = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        "The beginnings of words of a name, an e-mail address, a telephone, EID or tracking number or its last four " +
        "characters or more, an ICCID or its last four digits or more, an order number, your own order number, an id",
      examples: ["muller anna"],
    }),
  },
  named("SearchQuery"),
);

const Found = Type.Object(
  {
    kind: OneOf(subjectKinds, { description: "What it is", examples: ["order"] }),
    id: Type.String({ format: "uuid", description: "Its id" }),
    name: Type.String({
      description: "The order number, the ICCID, or the country of a passport",
      examples: ["ORD-20260301-7K2M9Q"],
    }),
    status: OneOf(statuses, {
      description: "That of the order, eSIM or activation request; of a passport `received`",
      examples: ["fulfilled"],
    }),
    person: Nullable(Type.String({ description: "Whom it names, or null for no one", examples: ["Anna Müller"] })),
  },
  named("Found"),
);

export const SearchResult = Type.Object(
  {
    data: Type.Array(Found, { description: "The newest 50 of each kind at most" }),
    count: Type.Integer({ examples: [1] }),
    truncated: Type.Array(OneOf(subjectKinds), {
      description: "Kinds of which there are or may be more",
      examples: [[]],
    }),
  },
  named("SearchResult"),
);

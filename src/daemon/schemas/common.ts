import { type TSchema, Type } from "typebox";
import type { Id } from "../../core/kernel/brand.ts";

/** One of these texts. Kept flat (no anyOf), which validates, serializes and reads better. */
export function OneOf<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...options });
}

/**
 * Options that name a schema: the OpenAPI document shows it once, at components/schemas/<name>, and refers to it
 * wherever it is used. The compiled validator and serializer keep the plain schema in place, which is the faster one.
 */
export function named(name: string, options: object = {}) {
  return { "x-component": name, ...options };
}

/** Options by which the document shows `schema` instead: a union, say, of a shape that is serialized as one. */
export function shownAs(schema: TSchema) {
  return { "x-document": schema };
}

/** One of several named objects that differ in the constant of one field; for the document alone. */
export function Discriminated(name: string, field: string, options: Readonly<Record<string, TSchema>>) {
  const mapping = Object.entries(options).map(([value, schema]) => [value, componentAddress(schema)]);
  return Type.Unsafe<unknown>({
    ...named(name),
    oneOf: Object.values(options),
    discriminator: { propertyName: field, mapping: Object.fromEntries(mapping) },
  });
}

function componentAddress(schema: object): string {
  return `#/components/schemas/${Reflect.get(schema, "x-component")}`;
}

/** A schema of one plain type, or null. */
export function Nullable<T extends TSchema & { type: string }>(schema: T) {
  return Type.Unsafe<Type.Static<T> | null>({ ...schema, type: [schema.type, "null"] });
}

/** A UUID that is the id of a B. */
export function UuidOf<B extends string>(description: string) {
  return Type.Unsafe<Id<B>>({ type: "string", format: "uuid", description });
}

export const Timestamp = Type.String({ format: "date-time", examples: ["2026-03-01T09:30:00.000Z"] });

/** The mark of a record of which not all could be read; the others of its list are whole. */
export const unreadable = Type.Optional(
  Type.Boolean({
    description:
      "True where sealed fields of this record cannot be read: they are empty here, or null. The operator has to " +
      "restore them. Otherwise absent.",
  }),
);

/** A day as YYYY-MM-DD. Whether the calendar has it is checked later: that is a problem of its own. */
export const CivilDate = (description: string) =>
  Type.String({
    pattern: "^\\d{4}-\\d{2}-\\d{2}$",
    errorMessage: "must be YYYY-MM-DD",
    description,
    examples: ["2027-11-01"],
  });

/** A time in a query. Whether the calendar and the clock have it is checked later. */
export const Moment = (description: string) =>
  Type.String({ format: "date-time", maxLength: 40, description, examples: ["2026-03-01T09:30:00Z"] });

export const Cents = Type.Integer({ description: "Minor units of the currency", examples: [1250] });

export const Currency = Type.String({ minLength: 3, maxLength: 3, examples: ["AUD"] });

/** A filter on the products of a region. */
export const RegionFilter = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Products of this region; case does not matter",
  examples: ["Europe"],
});

/** A filter on the products that cover a country. */
export const CountryFilter = Type.String({
  maxLength: 100,
  description:
    "Products whose coverage names this country: an ISO 3166-1 alpha-2 or alpha-3 code or an English name. " +
    "Entries such as Global name no country.",
  examples: ["JP"],
});

/** Query parameters of a cursor list whose pages have `standard` records unless asked for up to `most`. */
export function pageQuery(standard = 20, most = 100) {
  return {
    limit: Type.Integer({ minimum: 1, maximum: most, default: standard, description: "Records a page" }),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: "next_cursor of the page before" })),
  };
}

export const Pagination = Type.Object(
  {
    has_more: Type.Boolean({ examples: [true] }),
    next_cursor: Nullable(
      Type.String({ description: "The cursor of the next page; null on the last", examples: ["WyJSUWJ3…"] }),
    ),
    count: Type.Integer({ description: "Records on this page", examples: [1] }),
  },
  named("Pagination"),
);

/** How the items of a bulk request ended. */
export const BulkSummary = Type.Object(
  { total: Type.Integer(), successful: Type.Integer(), failed: Type.Integer() },
  named("BulkSummary", { examples: [{ total: 2, successful: 1, failed: 1 }] }),
);

/** An image as a response body: sent as it is, never serialized. */
export const Picture = Type.Unsafe<string | Buffer>({ description: "The picture" });

/** The response to If-None-Match where nothing changed: it has no body. */
export const NotModified = Type.Null({ description: "Not modified since If-None-Match" });

/** The request header of routes whose responses have an ETag. */
export const ConditionalHeaders = Type.Object({
  "if-none-match": Type.Optional(
    Type.String({
      description: "ETags of responses that you hold: 304 without a body if one of them is current",
      examples: ['W/"m3ZkQz6a0m0c1y0xHnYV2g"'],
    }),
  ),
});

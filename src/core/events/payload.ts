import type { Static } from "typebox";

type Fields = Readonly<Record<string, object>>;

/** A JSON Schema of an object with fields that it always has and fields that it may have. */
export interface ObjectSchema<Required extends Fields = Fields, Optional extends Fields = Fields> {
  readonly type: "object";
  readonly description?: string;
  readonly required: readonly string[];
  readonly properties: Required & Optional;
  /** Never set: it shows the compiler which fields may be left out. */
  readonly optional?: Optional;
}

/** The values that a schema describes. */
export type ValueOf<S> =
  S extends ObjectSchema<infer Required, infer Optional>
    ? { [K in keyof Required]: ValueOf<Required[K]> } & { [K in keyof Optional]?: ValueOf<Optional[K]> }
    : S extends { readonly type: "array"; readonly items: infer Item }
      ? ValueOf<Item>[]
      : S extends object
        ? Static<S>
        : never;

/**
 * An object with these fields. More fields may be added later, so unknown ones are valid. A schema is plain data and
 * not built by TypeBox at run time, because the command line lists the kinds of events and must not load it.
 */
export function object<const R extends Fields, const O extends Fields = Record<never, never>>(
  required: R,
  optional?: O,
): ObjectSchema<R, O> {
  // The compiler does not see that spreading makes the intersection.
  const properties = { ...required, ...optional } as R & O;
  return { type: "object", required: Object.keys(required), properties };
}

/** A list of these. */
export function listOf<const S extends object>(items: S) {
  return { type: "array", items } as const;
}

/** Exactly this text. */
export function exactly<const T extends string>(text: T) {
  return { type: "string", const: text } as const;
}

export const text = { type: "string" } as const;
export const textOrNull = { type: ["string", "null"] } as const;
export const uuid = { type: "string", format: "uuid" } as const;
export const time = { type: "string", format: "date-time" } as const;
/** Only where the operator corrected what an earlier event of the same kind and subject said. */
export const correctedAt = {
  ...time,
  description: "Only when the operator corrected what an earlier event of this kind said of the same subject",
} as const;
export const date = { type: "string", format: "date", description: "YYYY-MM-DD" } as const;
export const iccid = { type: "string", pattern: "^\\d{13,20}$" } as const;
export const cents = { type: "integer", description: "Minor units of the currency" } as const;
export const currency = { type: "string", minLength: 3, maxLength: 3 } as const;
export const megabytes = { type: "integer", minimum: 0 } as const;
export const orderNumber = { type: "string", description: "ORD-<yyyymmdd>-<5 alphanumerics>" } as const;
export const externalOrderId = {
  type: ["string", "null"],
  description: "The partner's own number, of an order of a bulk request",
} as const;

/** Schema of a payload: its fields, and `test` of a sample. */
export function payload<const R extends Fields, const O extends Fields = Record<never, never>>(
  required: R,
  optional?: O,
) {
  const test = { type: "boolean", const: true, description: "A sample that the operator sent" } as const;
  // The compiler does not see that spreading makes the intersection.
  return object(required, { ...optional, test } as O & { test: typeof test });
}

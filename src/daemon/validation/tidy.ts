import { allowedValues, allowsNull, alternatives, plainType, type Shape } from "./shape.ts";

/** Makes of what was sent what the schema is then checked against; never changes its argument. */
export type Tidy = (value: unknown) => unknown;

/**
 * Tidies by schema: declared strings are trimmed (UUIDs in lower case too), a null where none is allowed and a required
 * string that is empty count as absent, defaults are filled in, undeclared fields fall away; free objects stay as they
 * are. With `coerce` (query strings, path parameters) numbers and booleans are read from their text.
 */
export function tidier(shape: Shape, coerce: boolean): Tidy {
  const options = alternatives(shape);
  const [only] = options;
  if (shape.anyOf !== undefined && options.length === 1 && only !== undefined) return tidier(only, coerce);
  if (allowedValues(shape)?.some((value) => typeof value === "string")) return trimmed;
  if (shape.anyOf !== undefined) return unionTidier(options, coerce);
  const type = plainType(shape);
  if (type === "object") return objectTidier(shape, coerce);
  if (type === "array") return arrayTidier(shape, coerce);
  if (type === "string") return shape.format === "uuid" ? lowered : trimmed;
  return coerce ? scalarReader(type) : (value) => value;
}

const trimmed: Tidy = (value) => (typeof value === "string" ? value.trim() : value);
const lowered: Tidy = (value) => (typeof value === "string" ? value.trim().toLowerCase() : value);

/** A query without its empty values, which count as absent: `?limit=&status=paid` asks for the paid ones. */
export function withoutEmpty(query: unknown): unknown {
  if (typeof query !== "object" || query === null) return query;
  const filled = (value: unknown) => typeof value !== "string" || value.trim() !== "";
  const kept = Object.entries(query).map(([name, value]) => {
    if (!Array.isArray(value)) return [name, value] as const;
    const values = value.filter(filled);
    return [name, values.length > 1 ? values : (values[0] ?? "")] as const;
  });
  return Object.fromEntries(kept.filter(([, value]) => filled(value)));
}

function unionTidier(options: Shape[], coerce: boolean): Tidy {
  const tidiers = options.map((option) => ({ type: plainType(option), tidy: tidier(option, coerce) }));
  return (value) => {
    const type = Array.isArray(value) ? "array" : typeof value;
    return tidiers.find((option) => option.type === type)?.tidy(value) ?? value;
  };
}

function arrayTidier(shape: Shape, coerce: boolean): Tidy {
  const item = tidier(shape.items ?? {}, coerce);
  // One more than allowed is enough to be refused: the work stays bounded whatever was sent.
  const most = (shape.maxItems ?? Number.POSITIVE_INFINITY) + 1;
  return (value) => (Array.isArray(value) ? value.slice(0, most).map((each) => item(each)) : value);
}

function objectTidier(shape: Shape, coerce: boolean): Tidy {
  if (shape.properties === undefined) return (value) => value;
  const required = new Set(shape.required);
  const fields = Object.entries(shape.properties).map(([name, field]) => ({
    name,
    tidy: tidier(field, coerce),
    fallback: field.default,
    nullable: allowsNull(field),
    // In a body, a number or truth value that is empty is a wrong one, not a missing one.
    neverEmpty: required.has(name) && ["string", undefined].includes(plainType(field)),
  }));
  const open = shape.additionalProperties === true;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const tidy: Record<string, unknown> = open ? { ...value } : {};
    for (const { name, fallback, nullable, neverEmpty, tidy: tidyField } of fields) {
      const sent: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
      const field = tidyField(sent === null && !nullable ? undefined : sent);
      const kept = neverEmpty && isText(field, /^$/) ? undefined : field;
      if (kept !== undefined) tidy[name] = kept;
      else if (fallback !== undefined) tidy[name] = fallback;
      else delete tidy[name];
    }
    return tidy;
  };
}

function scalarReader(type: string | undefined): Tidy {
  if (type === "integer") return (value) => (isText(value, /^-?\d+$/) ? Number(value) : value);
  if (type === "number") return (value) => (isText(value, /^-?\d+(\.\d+)?$/) ? Number(value) : value);
  if (type === "boolean") return (value) => (isText(value, /^(true|false)$/) ? value.trim() === "true" : value);
  return (value) => value;
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value.trim());
}

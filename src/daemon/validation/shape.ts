/** The part of JSON Schema that request schemas are written in. */
export interface Shape {
  type?: string | string[];
  properties?: Record<string, Shape>;
  patternProperties?: Record<string, Shape>;
  additionalProperties?: boolean | Shape;
  required?: string[];
  items?: Shape;
  anyOf?: Shape[];
  oneOf?: Shape[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  /** Our own annotation: the sentence that replaces all others about this field, e.g. "must be 13 to 20 digits". */
  errorMessage?: string;
  examples?: unknown[];
  /** The name that the OpenAPI document gives it (schemas/common.ts). */
  "x-component"?: string;
  /** What the OpenAPI document shows instead of it. */
  "x-document"?: Shape;
  /** In place of a named schema, on its way into the OpenAPI document. */
  "x-ref"?: string;
}

/** Whether null is one of the values that `shape` allows. */
export function allowsNull(shape: Shape): boolean {
  if (shape.const === null || shape.type === "null") return true;
  if (Array.isArray(shape.type)) return shape.type.includes("null");
  return shape.anyOf?.some(allowsNull) ?? shape.enum?.includes(null) ?? false;
}

/** The alternatives of a union other than null; the shape itself when it is none. */
export function alternatives(shape: Shape): Shape[] {
  return shape.anyOf?.filter((option) => option.type !== "null") ?? [shape];
}

/** The one JSON type that `shape` allows beside null; undefined when it allows several or does not say. */
export function plainType(shape: Shape): string | undefined {
  const types = [shape.type ?? []].flat().filter((type) => type !== "null");
  return types.length === 1 ? types[0] : undefined;
}

/** The values of an enum, a literal or a union of literals; undefined when other values fit too. */
export function allowedValues(shape: Shape): unknown[] | undefined {
  if (shape.enum !== undefined) return shape.enum;
  if (shape.const !== undefined) return [shape.const];
  if (shape.anyOf === undefined) return undefined;
  const values = alternatives(shape).map(allowedValues);
  return values.every((list) => list !== undefined) ? values.flat() : undefined;
}

/** The shape at a JSON pointer within `root`, such as #/properties/line_items/items. */
export function shapeAt(root: Shape, pointer: string): Shape {
  let at: unknown = root;
  for (const key of pointerKeys(pointer)) {
    at = typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
  }
  return (at ?? {}) as Shape; // a pointer that the validator made leads to a shape
}

/** The keys of a JSON pointer, with or without its leading #. */
export function pointerKeys(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

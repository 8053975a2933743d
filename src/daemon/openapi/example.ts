import { plainType, type Shape } from "../validation/shape.ts";

/** Texts of a format that no field has to give an example of. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: "0199a0b1-0000-7000-8000-000000000001",
  date: "2026-03-02",
  "date-time": "2026-03-02T09:30:00.000Z",
  email: "mia@example.com",
  uri: "https://esim.reseller.net/docs",
};

/**
 * A value that `shape` allows, for people: its own example, or one made of the examples of its fields. A field that may
 * be left out is shown where it has an example of its own, so that examples grow with their schemas.
 */
export function exampleOf(shape: Shape): unknown {
  const shown = shape["x-document"] ?? shape;
  if (shown.examples !== undefined) return shown.examples[0];
  if (shown.default !== undefined) return shown.default;
  if (shown.const !== undefined) return shown.const;
  if (shown.enum !== undefined) return shown.enum[0];
  const [option] = shown.anyOf ?? shown.oneOf ?? [];
  if (option !== undefined) return exampleOf(option);
  return exampleOfType(shown);
}

function exampleOfType(shape: Shape): unknown {
  const type = plainType(shape);
  if (type === "object") return exampleObject(shape);
  if (Array.isArray(shape.type) && shape.type.includes("null")) return null;
  if (type === "array") return shape.items?.examples ?? [exampleOf(shape.items ?? {})];
  if (type === "string") return FORMATS[shape.format ?? ""] ?? "text";
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return shape.minimum ?? 0;
  return null;
}

function exampleObject({ properties = {}, required = [] }: Shape): Record<string, unknown> {
  const fields = Object.entries(properties).filter(
    ([name, field]) => required.includes(name) || field.examples !== undefined,
  );
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field)]));
}

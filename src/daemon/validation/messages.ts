import type { TValidationError } from "typebox/error";
import type { FieldErrors } from "../../core/kernel/problem.ts";
import { allowedValues, allowsNull, alternatives, pointerKeys, type Shape, shapeAt } from "./shape.ts";

const TYPES: Record<string, string> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

const FORMATS: Record<string, string> = {
  uuid: "must be a UUID",
  date: "must be a real date as YYYY-MM-DD",
  "date-time": "must be a time as 2026-03-01T09:30:00Z",
  email: "must be an e-mail address",
  uri: "must be an absolute address such as https://example.com/path",
};

/** A list of alternatives as a person writes it: "a", "a or b", "a, b or c". */
function either(words: string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function count(many: number, unit: string): string {
  return `${many} ${unit}${many === 1 ? "" : "s"}`;
}

function typeWords(shape: Shape): string {
  const values = allowedValues(shape);
  if (values !== undefined) {
    const words = values.filter((value) => value !== null);
    return words.length === 1 ? String(words[0]) : `one of ${words.join(", ")}`;
  }
  const types = alternatives(shape).flatMap((option) => option.type ?? []);
  if (allowsNull(shape)) types.push("null");
  return either([...new Set(types.map((type) => TYPES[type] ?? type))]);
}

function boundsMessage(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `must be between ${least} and ${most}`;
  return least === undefined ? `must be at most ${most}` : `must be at least ${least}`;
}

function lengthMessage(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && least === most) return `must be exactly ${count(least, "character")}`;
  if (most !== undefined && (least ?? 0) <= 1) return `must be at most ${count(most, "character")}`;
  return `${boundsMessage(least, most)} characters`;
}

function itemsMessage(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `must have between ${least} and ${count(most, "item")}`;
  return least === undefined
    ? `must have at most ${count(most ?? 0, "item")}`
    : `must have at least ${count(least, "item")}`;
}

function sentence(error: TValidationError, shape: Shape, value: unknown): string {
  switch (error.keyword) {
    case "type":
    case "enum":
    case "const":
    case "anyOf":
      return `must be ${typeWords(shape)}`;
    case "format":
      return FORMATS[error.params.format] ?? `must be in the form ${error.params.format}`;
    case "pattern":
      return "is not in the expected form";
    case "minimum":
    case "maximum":
      return boundsMessage(shape.minimum, shape.maximum);
    case "minLength":
      return value === "" ? "must not be empty" : lengthMessage(shape.minLength, shape.maxLength);
    case "maxLength":
      return lengthMessage(shape.minLength, shape.maxLength);
    case "minItems":
    case "maxItems":
      return itemsMessage(shape.minItems, shape.maxItems);
    case "uniqueItems":
      return "must not list the same item twice";
    case "minProperties":
      return `must have at least ${count(error.params.limit, "field")}`;
    case "maxProperties":
      return `must have at most ${count(error.params.limit, "field")}`;
    default:
      return "is not in the expected form";
  }
}

function valueAt(root: unknown, keys: string[]): unknown {
  return keys.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    root,
  );
}

/** Leaves out what a union's own error says better: the complaints of each of its alternatives. */
function withoutUnionNoise(errors: TValidationError[], root: Shape): TValidationError[] {
  const hidden: string[] = [];
  const dropped = new Set<TValidationError>();
  for (const error of errors) {
    if (error.keyword !== "anyOf") continue;
    const options = alternatives(shapeAt(root, error.schemaPath));
    const inner = errors.filter((each) => each.schemaPath.startsWith(`${error.schemaPath}/anyOf/`));
    // "X or null": what is wrong with the X says more than that it is neither.
    const about = inner.filter((each) => each.keyword !== "type");
    if (options.length === 1 && about.length > 0) {
      dropped.add(error);
      for (const each of inner) if (each.keyword === "type") dropped.add(each);
    } else {
      hidden.push(`${error.schemaPath}/anyOf/`);
    }
  }
  return errors.filter((error) => !dropped.has(error) && !hidden.some((path) => error.schemaPath.startsWith(path)));
}

/** A header's name as people write it: idempotency-key → Idempotency-Key. */
export function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** A validator's complaints as sentences for people, by dotted path; `whole` names the value itself ("body"). */
export function fieldErrors(errors: TValidationError[], root: Shape, value: unknown, whole: string): FieldErrors {
  const fields = new Map<string, Set<string>>();
  const add = (keys: string[], message: string) => {
    const path = whole === "headers" ? keys.map(headerName).join() : keys.join(".");
    fields.set(path || whole, (fields.get(path || whole) ?? new Set()).add(message));
  };
  for (const error of withoutUnionNoise(errors, root)) {
    const keys = pointerKeys(error.instancePath);
    if (error.keyword === "required") {
      for (const name of error.params.requiredProperties) add([...keys, name], "is required");
      continue;
    }
    const shape = shapeAt(root, error.schemaPath);
    const found = valueAt(value, keys);
    const repeated = whole === "query" && Array.isArray(found) && shape.type !== "array";
    const message = repeated ? "must be given only once" : (shape.errorMessage ?? sentence(error, shape, found));
    add(keys, message);
  }
  return Object.fromEntries([...fields].map(([path, messages]) => [path, [...messages]]));
}

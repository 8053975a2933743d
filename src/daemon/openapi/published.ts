import type { FastifySchema } from "fastify";
import { Type } from "typebox";
import { headerName } from "../validation/messages.ts";
import type { Shape } from "../validation/shape.ts";

/**
 * A schema as the document shows it: without our own annotation, and with fields that have a default as optional, which
 * they are for whoever sends them.
 */
function published(shape: Shape): Shape {
  const { errorMessage: _ours, required, ...rest } = shape;
  const out: Shape = { ...rest };
  if (shape.properties !== undefined) out.properties = mapValues(shape.properties, published);
  if (shape.patternProperties !== undefined) out.patternProperties = mapValues(shape.patternProperties, published);
  if (shape.items !== undefined) out.items = published(shape.items);
  if (shape.anyOf !== undefined) out.anyOf = shape.anyOf.map(published);
  const needed = required?.filter((name) => shape.properties?.[name]?.default === undefined) ?? [];
  if (needed.length > 0) out.required = needed;
  return out;
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function withHeaderNames(shape: Shape): Shape {
  const properties = Object.entries(shape.properties ?? {}).map(([name, value]) => [headerName(name), value]);
  return { ...shape, properties: Object.fromEntries(properties), required: (shape.required ?? []).map(headerName) };
}

/** A route's schemas, made ready for the document. */
export function publishedSchema(schema: FastifySchema): FastifySchema {
  const out: FastifySchema & Record<string, unknown> = { ...schema };
  for (const part of ["body", "querystring", "params", "headers"] as const) {
    if (schema[part] !== undefined) out[part] = published(schema[part] as Shape); // TypeBox schemas are JSON Schema
  }
  if (schema.headers !== undefined) out.headers = withHeaderNames(out.headers as Shape);
  // Marks that document.ts takes off again once the plugin has made the operation.
  if (schema.body !== undefined && Type.IsOptional(schema.body)) out["x-body-optional"] = true;
  return out;
}

import type { FastifySchema } from "fastify";
import { Type } from "typebox";
import { headerName } from "../validation/messages.ts";
import { allowsNull, type Shape } from "../validation/shape.ts";
import { exampleOf } from "./example.ts";

/** The named schemas of a document, by name; filled while schemas are published. */
export type Components = Map<string, Shape>;

/** How a schema is shown. */
interface Publication {
  components: Components;
  /** A request body: what has a default may be left out, and null counts as left out wherever something may be. */
  body: boolean;
}

/**
 * A schema as the document shows it: without our own annotations, and named ones as `{"x-ref": name}` with the schema
 * in `components`. The plugin in between would resolve real references; `refer` makes them of these at the end.
 */
export function published(shape: Shape, how: Publication): Shape {
  const { "x-component": name, ...shown } = shape["x-document"] ?? shape;
  if (name === undefined) return plain(shown, how);
  const nullable = Array.isArray(shown.type) && allowsNull(shown);
  const type = nullable ? [shown.type ?? []].flat().filter((each) => each !== "null") : undefined;
  const component = plain(type === undefined ? shown : { ...shown, type: type.length === 1 ? type[0] : type }, how);
  const known = how.components.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component)) {
    throw new Error(`two different schemas are named ${name}`);
  }
  how.components.set(name, component);
  const reference: Shape = { "x-ref": name };
  return nullable ? orNull(reference) : reference;
}

function plain(shape: Shape, how: Publication): Shape {
  const { errorMessage: _ours, required, patternProperties, ...rest } = shape;
  const out: Shape = { ...rest };
  const needed = required?.filter((name) => shape.properties?.[name]?.default === undefined) ?? [];
  if (shape.properties !== undefined) {
    out.properties = Object.fromEntries(
      Object.entries(shape.properties).map(([name, field]) => {
        const shown = published(field, how);
        return [name, how.body && !needed.includes(name) && !allowsNull(field) ? orNull(shown) : shown];
      }),
    );
  }
  // A record of any names: OpenAPI's tools know additionalProperties best.
  const [values] = Object.values(patternProperties ?? {});
  if (values !== undefined) out.additionalProperties = published(values, how);
  if (shape.items !== undefined) out.items = published(shape.items, how);
  if (shape.anyOf !== undefined) out.anyOf = shape.anyOf.map((option) => published(option, how));
  if (shape.oneOf !== undefined) out.oneOf = shape.oneOf.map((option) => published(option, how));
  if (needed.length > 0) out.required = needed;
  return out;
}

/** The same or null. */
function orNull(shape: Shape): Shape {
  if (shape.anyOf !== undefined) return { ...shape, anyOf: [...shape.anyOf, { type: "null" }] };
  if (shape.type === undefined) return "x-ref" in shape ? { anyOf: [shape, { type: "null" }] } : shape;
  const values = shape.enum === undefined ? {} : { enum: [...shape.enum, null] };
  return { ...shape, type: [shape.type, "null"].flat(), ...values };
}

/** All `{"x-ref": name}` within `value` as references into the document's components. */
export function refer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(refer);
  if (typeof value !== "object" || value === null) return value;
  if ("x-ref" in value) return { $ref: `#/components/schemas/${value["x-ref"]}` };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, refer(each)]));
}

function withHeaderNames(shape: Shape): Shape {
  const properties = Object.entries(shape.properties ?? {}).map(([name, value]) => [headerName(name), value]);
  return { ...shape, properties: Object.fromEntries(properties), required: (shape.required ?? []).map(headerName) };
}

/** A route's schemas, made ready for the document: published, with an example of each body. */
export function publishedSchema(schema: FastifySchema, components: Components, nullable: boolean): FastifySchema {
  const out: FastifySchema & Record<string, unknown> = { ...schema };
  for (const part of ["querystring", "params", "headers"] as const) {
    // TypeBox schemas are JSON Schema.
    if (schema[part] !== undefined) out[part] = published(schema[part] as Shape, { components, body: false });
  }
  if (schema.headers !== undefined) out.headers = withHeaderNames(out.headers as Shape);
  if (schema.body !== undefined) out.body = withExample(schema.body as Shape, { components, body: nullable });
  if (schema.response !== undefined) {
    const responses = Object.entries(schema.response as Record<string, Shape | Forms>);
    out.response = Object.fromEntries(
      responses.map(([status, shape]) => [status, responseShown(shape, { components, body: false })]),
    );
  }
  // Marks that document.ts takes off again once the plugin has made the operation.
  if (schema.body !== undefined && Type.IsOptional(schema.body)) out["x-body-optional"] = true;
  return out;
}

/** A response in several forms, each by its media type. */
interface Forms {
  description: string;
  content: Record<string, { schema: Shape }>;
}

function responseShown(shape: Shape | Forms, how: Publication): Shape | Forms {
  if (!("content" in shape)) return withExample(shape, how);
  const forms = Object.entries(shape.content).map(([type, { schema }]) => {
    const { examples: [example] = [], ...shown } = withExample(schema, how);
    return [type, { schema: shown, ...(example === undefined ? {} : { example }) }];
  });
  return { ...shape, content: Object.fromEntries(forms) };
}

/** The plugin makes the example of the media type of it. */
function withExample(shape: Shape, how: Publication): Shape {
  const shown = published(shape, how);
  return shape.type === "object" || shape.type === "array" ? { ...shown, examples: [exampleOf(shape)] } : shown;
}

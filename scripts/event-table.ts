import { type EventKind, eventCatalog, eventKinds } from "../src/core/events/catalog.ts";
import type { ObjectSchema } from "../src/core/events/payload.ts";
import { code, markdownTable } from "./markdown.ts";

/** The kinds of events as docs/webhooks.md shows them. */
export function eventTable(): string {
  return markdownTable(["kind", "about", "when it is sent", "fields of `data`"], eventKinds.map(rowOf));
}

function rowOf(kind: EventKind): string[] {
  const { when, subject, data } = eventCatalog[kind];
  return [code(kind), subject, when, fieldsOf(data).join(", ")];
}

/** Each field: the name, `?` where it may be missing, a fixed value, and the fields inside. */
function fieldsOf({ properties, required }: ObjectSchema): string[] {
  const named = Object.entries(properties).filter(([name]) => name !== "test");
  return named.map(([name, schema]) => `${code(required.includes(name) ? name : `${name}?`)}${insideOf(schema)}`);
}

function insideOf(schema: object): string {
  if ("const" in schema) return ` = ${code(String(schema.const))}`;
  if (isObject(schema)) return ` {${fieldsOf(schema).join(", ")}}`;
  const { items } = { items: null, ...schema };
  return isObject(items) ? ` [{${fieldsOf(items).join(", ")}}]` : "";
}

function isObject(schema: object | null): schema is ObjectSchema {
  return schema !== null && "properties" in schema && "required" in schema;
}

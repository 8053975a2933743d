import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { ProviderRequest } from "./provider.ts";

/** What a body may be: a form of a page, one of parts, or JSON. */
export type BodyKind = "form" | "multipart" | "json";

/** The fields of a body. A blank one counts as left out, as at the provider. */
export interface Fields {
  /** The field's text without blanks around it; null: left out. */
  text(name: string): string | null;
  /** The field as it was sent, a number as a number: orders say the quantity back so. */
  sent(name: string): string | number | null;
  /** The elements of a list; null: the field is left out, or no list. */
  list(name: string): string[] | null;
}

type Entry = [name: string, value: string | number];

const object = Compile(Type.Record(Type.String(), Type.Unknown()));

/** The fields of a body of one of `kinds`; one of any other kind has none, as the provider does not look for them. */
export function readFields({ body, headers }: ProviderRequest, kinds: readonly BodyKind[]): Fields {
  const type = headers["content-type"] ?? "";
  const entries = kinds.flatMap((kind) => readers[kind](body, type));
  const first = (name: string) => entries.find(([one]) => one === name)?.[1] ?? null;
  return {
    text: (name) => String(first(name) ?? "").trim() || null,
    sent: first,
    list(name) {
      const all = entries.filter(([one]) => one === `${name}[]`).map(([, value]) => String(value).trim());
      return all.length > 0 ? all : null;
    },
  };
}

const readers: Record<BodyKind, (body: Buffer, type: string) => Entry[]> = {
  form(body, type) {
    if (!type.startsWith("application/x-www-form-urlencoded")) return [];
    return [...new URLSearchParams(body.toString("utf8"))].map(([name, value]) => [listName(name), value]);
  },
  multipart(body, type) {
    const [, quoted, plain] = /^multipart\/form-data;.*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? [];
    const boundary = quoted ?? plain;
    if (boundary === undefined) return [];
    // Latin 1 has one character for every byte.
    const parts = `\r\n${body.toString("latin1")}`.split(`\r\n--${boundary}`);
    return parts.slice(1, -1).flatMap(partEntry);
  },
  json(body, type) {
    if (!type.startsWith("application/json")) return [];
    return jsonEntries(body.toString("utf8"));
  },
};

function partEntry(part: string): Entry[] {
  const end = part.indexOf("\r\n\r\n");
  const [, name] = /^content-disposition:.*[;\s]name="([^"]*)"/im.exec(part.slice(0, Math.max(end, 0))) ?? [];
  if (name === undefined) return [];
  return [[listName(utf8(name)), utf8(part.slice(end + 4))]];
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** Elements of a list may be numbered. */
function listName(name: string): string {
  return name.replace(/\[\d*\]$/, "[]");
}

function jsonEntries(text: string): Entry[] {
  const parsed = parsedJson(text);
  if (!object.Check(parsed)) return [];
  return Object.entries(parsed).flatMap(([name, value]): Entry[] => {
    if (Array.isArray(value)) return value.map((one) => [`${name}[]`, String(one)]);
    if (typeof value === "number") return [[name, value]];
    return typeof value === "string" || typeof value === "boolean" ? [[name, String(value)]] : [];
  });
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

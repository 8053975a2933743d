import { Secret } from "../../core/kernel/secret.ts";

/** The one key of a map that is a secret on its way. No text of a caller is ever a key of a map. */
const SECRET = "secret value";

/**
 * What of an input or a result can be sent to another thread: plain data, bytes and secrets. Answers the value itself
 * where nothing of it needs another form. Throws an `Error` for anything else, whose class would be lost on the way.
 */
export function encode(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol")
    throw new Error(`a ${typeof value} stays in its thread`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return encodeArray(value);
  if (isRecord(value)) return encodeRecord(value);
  if (value instanceof Secret) return new Map([[SECRET, encode(value.reveal())]]);
  if (value instanceof Map) return new Map([...value].map(([key, entry]) => [key, encode(entry)]));
  if (value instanceof Set || value instanceof Date || value instanceof Uint8Array) return value;
  throw new Error(`a ${value.constructor.name} stays in its thread`);
}

function isRecord(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function encodeArray(values: unknown[]): unknown[] {
  let changed: unknown[] | null = null;
  for (const [at, value] of values.entries()) {
    const encoded = encode(value);
    if (encoded === value) continue;
    changed ??= [...values];
    changed[at] = encoded;
  }
  return changed ?? values;
}

function encodeRecord(record: Record<string, unknown>): Record<string, unknown> {
  let changed: Record<string, unknown> | null = null;
  for (const name of Object.keys(record)) {
    const encoded = encode(record[name]);
    if (encoded === record[name]) continue;
    changed ??= { ...record };
    changed[name] = encoded;
  }
  return changed ?? record;
}

/** What `encode` was given, from what arrived: changed in place where it has another form. Bytes become a `Buffer`. */
export function decode(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (const [at, entry] of value.entries()) if (typeof entry === "object") value[at] = decode(entry);
    return value;
  }
  if (value instanceof Map) {
    if (value.size === 1 && value.has(SECRET)) return new Secret(decode(value.get(SECRET)));
    for (const [key, entry] of value) value.set(key, decode(entry));
    return value;
  }
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (!isRecord(value)) return value;
  for (const name of Object.keys(value)) {
    const entry = value[name];
    if (typeof entry === "object") value[name] = decode(entry);
  }
  return value;
}

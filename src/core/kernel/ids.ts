import { randomBytes, randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/** The only source of ids and randomness in core. */
export interface Ids {
  /** A UUIDv7 for the moment `now` (ms): ids made one after the other sort in that order. */
  uuid(now: number): string;
  /** `length` random bytes. */
  bytes(length: number): Buffer;
}

/** A new id branded as `Id`, e.g. `newId<OrderId>(tx)`, for the moment of the transaction. */
export function newId<Id extends string>({ ids, now }: { ids: Ids; now: number }): Id {
  // The one place where an id gets its brand.
  return ids.uuid(now) as Id;
}

const POOL_BYTES = 4096;
/** What a draw from the pool is enough for: names of orders, not keys. */
const SHORT_BYTES = 16;

/** 16 random bytes at a time, drawn from the operating system by the page: asking for each id would cost more. */
function randomPool(): () => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += SHORT_BYTES;
    return pool.subarray(used - SHORT_BYTES, used);
  };
}

/** Ids from the operating system's randomness, ordered within a process even inside one millisecond. */
export function randomIds(): Ids {
  let last = 0;
  let sequence = 0;
  const random = randomPool();
  return {
    uuid(now) {
      // A clock that steps back must not break the order: the last moment is kept and the sequence goes on.
      sequence = now > last ? 0 : sequence + 1;
      last = Math.max(now, last);
      return v7({ msecs: last, seq: sequence, random: random() });
    },
    bytes: (length) => (length <= SHORT_BYTES ? Buffer.from(random().subarray(0, length)) : randomBytes(length)),
  };
}

const CROCKFORD_LIKE = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** `length` random characters of 0-9A-Z, without bias. */
export function randomAlphanumeric(ids: Ids, length: number): string {
  let out = "";
  while (out.length < length) {
    for (const byte of ids.bytes(length * 2)) {
      // 252 is the largest multiple of 36 in a byte; the rest would favor the first letters.
      if (byte < 252 && out.length < length) out += CROCKFORD_LIKE[byte % 36];
    }
  }
  return out;
}

/** The moment (ms) that a UUIDv7 was made for. */
export function momentOfUuid(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The least UUIDv7 of the moment `ms`: ids made before it sort before it. */
export function firstUuidOf(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

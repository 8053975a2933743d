import type { EsimId } from "../kernel/brand.ts";
import { luhnDigit, luhnValid } from "../kernel/check-digits.ts";
import { type DigitCipher, digitCipher, FOURTEEN_DIGITS } from "../kernel/ff1.ts";
import type { Vault } from "../store/vault.ts";

/** The order that a synthetic eSIM is of, as far as its codes depend on it. */
export interface NumberedOrder {
  /** See the column of orders. */
  first_unit: number;
  created_at: number;
  ahead_ms: number;
}

const PREFIX = "8999";
/** An id holds the index in 19 bits: more than the 500,000 units of the largest order. */
const INDEX_LOW = 2 ** 7;

const ciphers = new WeakMap<Vault, DigitCipher>();

function cipherOf(vault: Vault): DigitCipher {
  const known = ciphers.get(vault) ?? digitCipher(vault.subkey("synthetic-esims"));
  ciphers.set(vault, known);
  return known;
}

/** The ids and ICCIDs of an order's units at `indexes`; always the same. */
export function codesOfUnits(
  vault: Vault,
  order: NumberedOrder,
  indexes: readonly number[],
): { id: EsimId; iccid: string }[] {
  const [first = 0, ...numbers] = cipherOf(vault).encrypt([0, ...indexes].map((index) => order.first_unit + index));
  return numbers.map((number, at) => {
    const digits = PREFIX + String(number).padStart(14, "0");
    return { id: idOf(order, indexes[at] ?? 0, { first, mark: number % 256 }), iccid: digits + luhnDigit(digits) };
  });
}

/** The number of the sandbox's unit that an ICCID was made of; null: it is not one of a synthetic eSIM. */
export function unitOfIccid(vault: Vault, iccid: string): number | null {
  if (!/^8999\d{15}$/.test(iccid) || !luhnValid(iccid)) return null;
  return cipherOf(vault).decrypt(Number(iccid.slice(4, 18)));
}

/**
 * A UUIDv7 of the moment of the order, by the system's time. Its 74 free bits: the index (19), so that an order's ids
 * sort as its eSIMs do, the encrypted number of the order's first unit (47), and 8 bits of the unit's own encrypted
 * number.
 */
function idOf(order: NumberedOrder, index: number, { first, mark }: { first: number; mark: number }): EsimId {
  const time = (order.created_at - order.ahead_ms).toString(16).padStart(12, "0");
  const above = Math.floor(index / INDEX_LOW);
  const high = 2 ** 31 + (index % INDEX_LOW) * 2 ** 23 + Math.floor(first / 2 ** 24);
  const low = (first % 2 ** 24) * 256 + mark;
  const rest = hex(high, 8) + hex(low, 8);
  // The one place where the id of a synthetic eSIM gets its brand.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(above, 3)}-${rest.slice(0, 4)}-${rest.slice(4)}` as EsimId;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** The index within its order that an id would be of. */
export function indexOfId(id: string): number {
  return Number.parseInt(id.slice(15, 18), 16) * INDEX_LOW + (Math.floor(highWord(id) / 2 ** 23) % INDEX_LOW);
}

/** The number of its order's first unit that an id would be of; null: no synthetic eSIM has this id. */
export function firstUnitOfId(vault: Vault, id: string): number | null {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return null;
  const first = (highWord(id) % 2 ** 23) * 2 ** 24 + Math.floor(Number.parseInt(id.slice(28), 16) / 256);
  return first < FOURTEEN_DIGITS ? cipherOf(vault).decrypt(first) : null;
}

function highWord(id: string): number {
  return Number.parseInt(id.slice(19, 23) + id.slice(24, 28), 16);
}

import { type CipherKey, createCipheriv } from "node:crypto";

/** A keyed permutation of the numbers of at most 14 digits. */
export interface DigitCipher {
  /** The number that each of `numbers` becomes; many at once cost little more than one. */
  encrypt(numbers: readonly number[]): number[];
  /** The number that became `encrypted`. */
  decrypt(encrypted: number): number;
}

const HALF = 10_000_000;
const ROUNDS = 10;
const BLOCK = 16;
/** 2^32 modulo HALF: a 64-bit value is reduced without leaving the safe integers. */
const HIGH_WORD = 2 ** 32 % HALF;

/** How many numbers have at most 14 digits. */
export const FOURTEEN_DIGITS = HALF * HALF;

/**
 * FF1 of NIST SP 800-38G, for radix 10, 14 digits and no tweak, on AES-256. The first of the two blocks that its PRF
 * reads is then the same in every round, so a round is one AES block, and a round of many numbers is one call.
 */
export function digitCipher(key: CipherKey): DigitCipher {
  const aes = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  const first = aes.update(Buffer.from([1, 2, 1, 0, 0, 10, ROUNDS, 7, 0, 0, 0, 14, 0, 0, 0, 0]));
  const tail = first.readUInt32BE(12);

  /** The round function of each half. */
  function round(number: number, halves: number[]): number[] {
    const blocks = Buffer.alloc(halves.length * BLOCK);
    for (const [at, half] of halves.entries()) {
      first.copy(blocks, at * BLOCK, 0, 12);
      blocks.writeUInt32BE((tail ^ ((number << 24) | half)) >>> 0, at * BLOCK + 12);
    }
    const out = aes.update(blocks);
    return halves.map((_, at) => {
      const high = out.readUInt32BE(at * BLOCK) % HALF;
      return (high * HIGH_WORD + out.readUInt32BE(at * BLOCK + 4)) % HALF;
    });
  }

  return {
    encrypt(numbers) {
      let left = numbers.map((number) => Math.floor(number / HALF));
      let right = numbers.map((number) => number % HALF);
      for (let number = 0; number < ROUNDS; number++) {
        const mixed = round(number, right);
        const next = left.map((half, at) => (half + (mixed[at] ?? 0)) % HALF);
        [left, right] = [right, next];
      }
      return left.map((half, at) => half * HALF + (right[at] ?? 0));
    },
    decrypt(encrypted) {
      let left = Math.floor(encrypted / HALF);
      let right = encrypted % HALF;
      for (let number = ROUNDS - 1; number >= 0; number--) {
        const [mixed = 0] = round(number, [left]);
        [left, right] = [(right - mixed + HALF) % HALF, left];
      }
      return left * HALF + right;
    },
  };
}

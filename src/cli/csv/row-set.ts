/** A set of row numbers that costs one bit per row, so that a million bad rows need 125 kB. */
export interface RowSet {
  add(row: number): void;
  has(row: number): boolean;
}

/** An empty set of row numbers from 0 on. */
export function rowSet(): RowSet {
  let bits = new Uint8Array(1024);
  return {
    add(row) {
      const byte = row >> 3;
      if (byte >= bits.length) {
        const wider = new Uint8Array(Math.max(bits.length * 2, byte + 1));
        wider.set(bits);
        bits = wider;
      }
      bits[byte] = (bits[byte] ?? 0) | (1 << (row & 7));
    },
    has: (row) => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0,
  };
}

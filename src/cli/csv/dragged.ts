/** Rows whose numbers count up by one from the line before, as when a cell is dragged down in a spreadsheet. */
export interface Dragged<R> {
  /** Takes a row into account, in the file's order; all rows first, before anything is asked. */
  see(row: R): void;
  /** Whether the row is part of such a series. */
  has(row: R): boolean;
}

/** Rows in a series that are no chance: neighbors in a box of cards differ by more, as each has a check digit. */
const LEAST = 3;

/** Finds series of rows that count up by one; `numberOf` answers "" for a row without a number. */
export function findDragged<R extends { line: number }>(numberOf: (row: R) => string): Dragged<R> {
  const found = new Set<number>();
  let last: bigint | null = null;
  let lines: number[] = [];
  return {
    see(row) {
      const text = numberOf(row);
      const number = /^\d{1,40}$/.test(text) ? BigInt(text) : null;
      lines =
        number !== null && last !== null && number === last + 1n ? [...lines.slice(1 - LEAST), row.line] : [row.line];
      if (lines.length >= LEAST) for (const line of lines) found.add(line);
      last = number;
    },
    has: ({ line }) => found.has(line),
  };
}

export const DRAGGED = "counts up by one from line to line, as when a cell is dragged down in a spreadsheet";

/** Where the records of a file lie: a piece of it. */
export interface Range {
  from: number;
  bytes: number;
}

/** The records of a file that is being written, each with the line it is about: 16 bytes a record. */
export interface RecordList {
  /** The next record of the file. */
  add(line: number, bytes: number): void;
  /** The pieces of the file by the lines they are about; null when they lie so already. */
  sorted(): Range[] | null;
}

/** A list without records. */
export function recordList(): RecordList {
  let lines = new Float64Array(256);
  let ends = new Float64Array(256);
  let count = 0;
  let inOrder = true;
  return {
    add(line, bytes) {
      if (count === lines.length) {
        lines = wider(lines);
        ends = wider(ends);
      }
      inOrder &&= count === 0 || line >= (lines[count - 1] ?? 0);
      lines[count] = line;
      ends[count] = (count === 0 ? 0 : (ends[count - 1] ?? 0)) + bytes;
      count += 1;
    },
    sorted() {
      if (inOrder) return null;
      const order = Uint32Array.from({ length: count }, (_, at) => at).sort(
        (a, b) => (lines[a] ?? 0) - (lines[b] ?? 0) || a - b,
      );
      const ranges: Range[] = [];
      for (const at of order) {
        const from = at === 0 ? 0 : (ends[at - 1] ?? 0);
        const bytes = (ends[at] ?? 0) - from;
        const last = ranges.at(-1);
        // What lies one after the other is one piece.
        if (last !== undefined && last.from + last.bytes === from) last.bytes += bytes;
        else ranges.push({ from, bytes });
      }
      return ranges;
    },
  };
}

function wider(array: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const next = new Float64Array(array.length * 2);
  next.set(array);
  return next;
}

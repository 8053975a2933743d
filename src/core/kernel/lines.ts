/** What waits, in a line for each key; the keys take turns. */
export interface Lines<W> {
  push(key: string, waiting: W): void;
  /** The first of the line whose turn it is; null: nothing waits. */
  take(): W | null;
  size(): number;
}

/** What a line keeps of what was taken, at most: one that always has more waiting would otherwise keep all of it. */
const TRIM_AT = 256;

/** Empty lines. */
export function createLines<W>(): Lines<W> {
  const lines = new Map<string, { waiting: W[]; at: number }>();
  let size = 0;
  return {
    size: () => size,
    push(key, one) {
      size += 1;
      const line = lines.get(key);
      if (line === undefined) lines.set(key, { waiting: [one], at: 0 });
      else line.waiting.push(one);
    },
    take() {
      const [first] = lines;
      if (first === undefined) return null;
      const [key, line] = first;
      const one = line.waiting[line.at] ?? null;
      line.at += 1;
      size -= 1;
      if (line.at >= TRIM_AT) {
        line.waiting.splice(0, line.at);
        line.at = 0;
      }
      // Its next turn comes after those of all others.
      lines.delete(key);
      if (line.at < line.waiting.length) lines.set(key, line);
      return one;
    },
  };
}

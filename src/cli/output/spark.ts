const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A small chart of one line: a bar a value, the highest as high as a line; a dot where there is nothing. */
export function spark(values: readonly number[]): string {
  const most = Math.max(...values, 1);
  return values.map((value) => (value === 0 ? "·" : BARS[Math.ceil((value / most) * BARS.length) - 1])).join("");
}

/** Lines on their way to a stream. */
export interface GatheredLines {
  /** Writes a line, which ends in a newline, with the others of this turn of the event loop. */
  write(line: string): void;
  /** For the end of the process: writes what waits at once. */
  flush(): void;
}

/** Gathers the lines of a turn of the event loop, which waits for each write to a pipe, a file or a process. */
export function gatheredLines(stream: { write(lines: string): unknown }): GatheredLines {
  let waiting = "";
  const flush = () => {
    const lines = waiting;
    waiting = "";
    if (lines !== "") stream.write(lines);
  };
  return {
    write(line) {
      if (waiting === "") setImmediate(flush);
      waiting += line;
    },
    flush,
  };
}

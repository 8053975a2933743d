/** So many holders at a time; the others wait in their order. */
export interface Permits {
  /** Resolves when there is one; the result gives it back, once. */
  take(): Promise<() => void>;
}

/** `count` permits. */
export function createPermits(count: number): Permits {
  let free = count;
  const waiting: (() => void)[] = [];

  function give(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async take() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let held = true;
      return () => {
        if (held) give();
        held = false;
      };
    },
  };
}

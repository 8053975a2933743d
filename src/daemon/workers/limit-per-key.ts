/** How much work of each key runs at a time; the rest of that key waits in its order. */
export interface LimitPerKey {
  /** Null: it may begin. Else it may once this resolves. */
  enter(key: string): Promise<void> | null;
  /** Ends what has begun. */
  leave(key: string): void;
}

/** Lets at most `most` works of each key run at a time. */
export function limitPerKey(most: number): LimitPerKey {
  const keys = new Map<string, { running: number; waiting: (() => void)[] }>();
  return {
    enter(key) {
      const used = keys.get(key) ?? { running: 0, waiting: [] };
      if (used.running < most) {
        used.running += 1;
        keys.set(key, used);
        return null;
      }
      return new Promise((resolve) => void used.waiting.push(resolve));
    },
    leave(key) {
      const used = keys.get(key);
      if (used === undefined) return;
      const next = used.waiting.shift();
      // The next one takes its place.
      if (next !== undefined) return next();
      used.running -= 1;
      if (used.running === 0) keys.delete(key);
    },
  };
}

/** Runs a task once for all who ask while it runs; the first one's arguments count. */
export function sharedRun<A extends unknown[], T>(task: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  let running: Promise<T> | null = null;
  return (...args) => {
    running ??= task(...args).finally(() => {
      running = null;
    });
    return running;
  };
}

/**
 * Shares one reading among all callers of a turn of the event loop. It is made when the turn has read its sockets, so
 * it is never older than any caller's question. Callers that go on from it, without waiting for anything else, get the
 * same one again, unless `forget` was called in between.
 */
export function oncePerTurn<T>(read: () => Promise<T>): { ask: () => Promise<T>; forget: () => void } {
  let waiting: Promise<T> | null = null;
  let made: Promise<T> | null = null;
  function ask(): Promise<T> {
    // While `made` is set no socket is read: each caller was there before the reading.
    if (made !== null) return made;
    if (waiting !== null) return waiting;
    const { promise, resolve } = Promise.withResolvers<T>();
    waiting = promise;
    // Sockets are read before the immediates of a turn; promises of the first go on before the second runs.
    setImmediate(() => {
      waiting = null;
      made = read();
      resolve(made);
    });
    setImmediate(() => {
      made = null;
    });
    return promise;
  }

  return {
    ask,
    forget() {
      made = null;
    },
  };
}

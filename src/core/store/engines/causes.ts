/** An error and what caused it, outermost first: the query builder wraps the driver's errors. */
export function* causesOf(error: unknown): Generator<unknown> {
  for (let cause = error; cause !== undefined && cause !== null; ) {
    yield cause;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
}

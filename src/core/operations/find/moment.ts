/** One thing that happened. */
export interface Moment {
  /** Milliseconds. */
  at: number;
  /** What kind of thing: order, money, item, esim, activation, carrier, webhook, passport or audit. */
  kind: string;
  /** The order's, eSIM's, … own id. */
  id: string;
  /** What happened, for people, on one line. */
  text: string;
  /** The HTTP request that did it, where that is known. */
  request_id?: string | null;
}

/** The moments of those times that there are. */
export function momentsOf(
  kind: string,
  id: string,
  times: readonly (readonly [at: number | null, text: string, requestId?: string | null])[],
): Moment[] {
  return times.flatMap(([at, text, request_id = null]) => (at === null ? [] : [{ at, kind, id, text, request_id }]));
}

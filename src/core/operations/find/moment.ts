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
}

/** The moments of those times that there are. */
export function momentsOf(kind: string, id: string, times: readonly (readonly [number | null, string])[]): Moment[] {
  return times.flatMap(([at, text]) => (at === null ? [] : [{ at, kind, id, text }]));
}

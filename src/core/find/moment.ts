/** One thing that happened. */
export interface Moment {
  /** Milliseconds. */
  at: number;
  /** What kind of thing: order, money, item, supplier, esim, activation, carrier, webhook, passport or audit. */
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

/** One exchange with a carrier or a supplier. */
interface Attempt {
  source: string;
  status_code: number | null;
  latency_ms: number | null;
  outcome: string;
  answer: string | null;
}

/** An exchange in words: its source, code, duration, outcome and response. */
export function attemptWords({ source, status_code, latency_ms, outcome, answer }: Attempt): string {
  const code = status_code === null ? "" : ` ${status_code}`;
  const took = latency_ms === null ? "" : ` in ${latency_ms} ms`;
  return `${source}${code}${took}, ${outcome}${answer === null ? "" : `: ${answer}`}`;
}

/** The only source of time in core. Milliseconds since the epoch, UTC. */
export interface Clock {
  now(): number;
}

/** The machine's own clock. Only `serve`, the terminal and benches take it. */
export const systemClock: Clock = { now: () => Date.now() };

/** A moment in ms as the API writes it: ISO 8601, milliseconds, `Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same for a column that may be empty. */
export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

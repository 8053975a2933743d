import { isoTime } from "./clock.ts";

/** From when until when (ms) a month is; its end is the first moment of the next one. */
export interface MonthSpan {
  from: number;
  until: number;
}

/** The span of a month of UTC (YYYY-MM); null: there is no such month. */
export function monthSpan(month: string): MonthSpan | null {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return null;
  const from = new Date(`${month}-01T00:00:00Z`);
  return { from: from.getTime(), until: new Date(from).setUTCMonth(from.getUTCMonth() + 1) };
}

/** The month of UTC (YYYY-MM) that a moment (ms) is in. */
export function monthAt(ms: number): string {
  return isoTime(ms).slice(0, 7);
}

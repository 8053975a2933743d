/** Requests that are sent over some connections, on each the next one when the response to the last one came. */
export interface Load {
  url: string;
  connections: number;
  /** How many requests in all; left out: without an end. */
  amount?: number;
  /** How long (ms) a connection waits after each response; left out: not at all. */
  pauseMs?: number;
  headers?: Record<string, string>;
  method?: "GET" | "POST";
  /** `NEW_ID` in it or in a header becomes another ID in each request. */
  body?: string;
}

/** In the place of an ID that no other request has. */
export const NEW_ID = "[<id>]";

/** What came of a load. */
export interface Sent {
  seconds: number;
  /** Responses of 2xx. */
  ok: number;
  others: number;
  /** Milliseconds within which 99 of 100 responses came. */
  p99Ms: number;
}

import type { Kit } from "./kit.ts";

/** Who spoke: we asked, they called back, or staff said it. */
export type AttemptSource = "request" | "callback" | "operator";

/** The columns of an exchange with a carrier or a supplier, beside the reference to what it was about. */
export function attemptColumns(k: Kit) {
  return {
    id: k.text("id").primaryKey(),
    at: k.int("at").notNull(),
    source: k.text("source").$type<AttemptSource>().notNull(),
    /** What it came to: accepted, confirmed, activated, refused, temporary or waiting. */
    outcome: k.text("outcome").notNull(),
    status_code: k.int("status_code"),
    latency_ms: k.int("latency_ms"),
    /** The response, identity data redacted; or why it could not be read. */
    answer: k.text("answer"),
    /** The HTTP request that a callback came in; null where we asked, or staff said it in the terminal. */
    request_id: k.text("request_id"),
  };
}

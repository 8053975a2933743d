import { LRUCache } from "lru-cache";
import type { WebhookId } from "../../core/kernel/brand.ts";
import { CUTS_TO_WAIT, cutDelay } from "../../core/webhooks/retries.ts";
import type { WebhookRow } from "../../core/webhooks/webhook.ts";
import type { WebhookResponse } from "../gateways/webhook-sender.ts";

/** Which endpoints have just sent too much, until that is recorded and claims go by it. */
export interface CutEndpoints {
  /** Takes an attempt that ended at `now` (ms) into account. */
  note(id: WebhookId, attempt: Pick<WebhookResponse, "cut">, now: number): void;
  /** How long an attempt waits (ms) that was claimed when its endpoint was as `row` says; 0: it may be made. */
  waitOf(row: Pick<WebhookRow, "id" | "cut_attempts">, now: number): number;
}

const WAIT_MS = cutDelay(CUTS_TO_WAIT) ?? 0;
const MOST_KNOWN = 1_000;

/** Counts the attempts of each endpoint that were cut off in a row. */
export function cutEndpoints(): CutEndpoints {
  const known = new LRUCache<WebhookId, { cuts: number; at: number }>({ max: MOST_KNOWN });
  return {
    note(id, { cut }, now) {
      if (cut) known.set(id, { cuts: (known.get(id)?.cuts ?? 0) + 1, at: now });
      else known.delete(id);
    },
    waitOf({ id, cut_attempts }, now) {
      const last = known.get(id);
      // Else it was claimed in spite of that: its wait is over.
      if (last === undefined || last.cuts < CUTS_TO_WAIT || cut_attempts >= CUTS_TO_WAIT) return 0;
      return now - last.at < WAIT_MS ? WAIT_MS : 0;
    },
  };
}

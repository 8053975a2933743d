import { LRUCache } from "lru-cache";
import type { WebhookId } from "../../core/kernel/brand.ts";
import type { WebhookResponse } from "../gateways/webhook-sender.ts";

/** Which endpoints are known to answer promptly: what is claimed of them is soon sent. */
export interface PromptEndpoints {
  /** Takes an attempt that ended into account. */
  note(id: WebhookId, attempt: Pick<WebhookResponse, "statusCode" | "latencyMs">): void;
  has(id: WebhookId): boolean;
}

/** A prompt response comes within this (ms). */
const PROMPT_MS = 1_000;
/** Endpoints that are remembered: another one has to show again that it is prompt. */
const MOST_KNOWN = 1_000;

/** An endpoint is prompt while its last `inARow` attempts had a prompt response each. */
export function promptEndpoints(inARow: number): PromptEndpoints {
  const known = new LRUCache<WebhookId, number>({ max: MOST_KNOWN });
  return {
    note(id, { statusCode, latencyMs }) {
      const isPrompt = statusCode !== null && latencyMs < PROMPT_MS;
      known.set(id, isPrompt ? (known.get(id) ?? 0) + 1 : 0);
    },
    has: (id) => (known.get(id) ?? 0) >= inARow,
  };
}

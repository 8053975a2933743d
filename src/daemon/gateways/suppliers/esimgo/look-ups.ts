import type { Memory } from "../../../../core/store/schema/values.ts";
import type { Step } from "../../../../core/supply/provider.ts";
import type { Failed } from "./client.ts";

type Counting = Memory & { looks: number };

/**
 * How long after the last one each look-up is made (ms), the first after the request itself. The last is 14 minutes
 * after it: a bundle may be in processing for 10.
 */
const waits = [2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 300_000];

/** Whether every look-up was made. */
export function isExhausted({ looks }: Counting): boolean {
  return looks >= waits.length;
}

/** The step after a request without a clear answer. */
export function lookLater(memory: Counting, reason: string, waitMs: number | null): Step {
  return { kind: "unknown", reason, memory, waitMs: waitMs ?? waits[memory.looks] ?? 300_000 };
}

/** The step after a look-up that found nothing, which `looks` counts already; the last one ends in `lost`. */
export function lookAgain(memory: Counting, reason: string): Step {
  return isExhausted(memory) ? { kind: "lost", reason, memory } : lookLater(memory, reason, null);
}

/** The step after a look-up without an answer, which does not count. */
export function lookFailed(memory: Counting, reply: Failed): Step {
  if (reply.kind === "busy") return { kind: "busy", waitMs: reply.waitMs };
  return lookLater(memory, `the look-up failed: ${reply.reason}`, Math.max(10_000, waits[memory.looks] ?? 300_000));
}

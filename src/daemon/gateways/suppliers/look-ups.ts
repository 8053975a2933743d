import type { Memory } from "../../../core/store/schema/values.ts";
import type { Step } from "../../../core/supply/provider.ts";
import { type Failed, reasonOf } from "./reply.ts";

/** Memory of a purchase that is looked up: how often it was not found, and how often there was no usable answer. */
export type Looking = Memory & { looks: number; silent?: number };

/** How long after the last one each look-up is made (ms), the first after the request itself. */
const waits = [2_000, 5_000, 10_000, 30_000, 60_000, 120_000];
const LONGEST_WAIT_MS = 300_000;

/** So many look-ups, the last a quarter of an hour after the request, are enough for what is listed within minutes. */
const MOST_LOOKS = 8;
/** So many without a usable answer, the last 49 minutes after the request: what is wrong then is for people. */
const MOST_SILENT = 15;

/** How long to wait after so many look-ups (ms). */
export function waitAfter(looks: number): number {
  return waits[looks] ?? LONGEST_WAIT_MS;
}

/** It may be bought: it is looked up next after a wait that grows, or as long as the provider asks to wait. */
export function lookLater(memory: Looking, reason: string, waitMs: number | null = null): Step {
  const { looks, silent = 0 } = memory;
  const after = Math.min(waitMs ?? waitAfter(Math.max(looks, silent)), LONGEST_WAIT_MS);
  return { kind: "unknown", reason, memory, waitMs: after };
}

/** The step after a request that must not be repeated, and was not answered with what it was for. */
export function afterSending(memory: Looking, reply: Failed): Step {
  return reply.kind === "unclear" ? lookLater(memory, reply.reason, reply.waitMs) : reply;
}

/** The step after a look-up that found nothing, which `looks` counts already; the last one ends in `lost`. */
export function lookAgain(memory: Looking, reason: string): Step {
  return memory.looks < MOST_LOOKS ? lookLater(memory, reason) : { kind: "lost", reason, memory };
}

/** The step after a call without a usable answer: it says nothing of what may be bought, and is counted by itself. */
export function lookFailed(memory: Looking, reply: Failed): Step {
  if (reply.kind === "busy") return reply;
  const [reason, counted] = [reasonOf(reply), { ...memory, silent: (memory.silent ?? 0) + 1 }];
  if (counted.silent < MOST_SILENT) return lookLater(counted, reason);
  return { kind: "lost", reason: `the provider could not be asked about it: ${reason}`, memory: counted };
}

/** The end of a purchase whose memory has a form that no version of the adapter wrote. */
export function notUnderstood(memory: Memory): Step {
  return { kind: "lost", reason: "what was noted of it is not understood", memory };
}

/** The end of a purchase of which nothing was sent yet, or that was refused. */
export function notBought(reply: Failed): Step {
  return reply.kind === "unclear" ? { kind: "unsent", reason: reply.reason } : reply;
}

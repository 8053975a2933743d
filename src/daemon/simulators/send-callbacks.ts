import { setTimeout as after } from "node:timers/promises";
import type { ProviderCallback } from "./provider.ts";

/** What became of a callback; `status` of null: it was not answered. */
export interface SentCallback {
  url: string;
  status: number | null;
}

/** A receiver has so long (ms) to answer. */
const TIMEOUT_MS = 10_000;

/** Sends callbacks one after the other, as a provider does, and returns what was answered. Never throws. */
export async function sendCallbacks(
  callbacks: readonly ProviderCallback[],
  ended: AbortSignal,
): Promise<SentCallback[]> {
  const sent: SentCallback[] = [];
  for (const callback of callbacks) sent.push({ url: callback.url, status: await statusOf(callback, ended) });
  return sent;
}

async function statusOf(
  { url, headers, body, after_ms = 0 }: ProviderCallback,
  ended: AbortSignal,
): Promise<number | null> {
  try {
    if (after_ms > 0) await after(after_ms, undefined, { signal: ended });
    const signal = AbortSignal.any([ended, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    await response.body?.cancel();
    return response.status;
  } catch {
    // Not reached, not answered in time, or the simulator ends.
    return null;
  }
}

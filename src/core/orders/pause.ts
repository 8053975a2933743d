import type { Actor } from "../audit/record.ts";
import { setPause } from "../audit/set-pause.ts";
import type { Pause } from "../platform/pauses.ts";
import type { Tx } from "../store/store.ts";

const ORDERS = { kind: "orders", name: "" } as const;
const TARGET = { targetKind: "platform", targetId: "orders" } as const;

/** Refuses all new orders from now on. Those that were accepted go on. Throws `validation` for the reason. */
export function pauseOrders(tx: Tx, { reason, actor }: { reason: string; actor: Actor }): Promise<Pause | null> {
  return setPause(tx, { paused: ORDERS, reason, audit: { actor, action: "orders.pause", ...TARGET } });
}

/** Accepts new orders again. Where none are paused nothing changes. */
export function resumeOrders(tx: Tx, { actor }: { actor: Actor }): Promise<Pause | null> {
  return setPause(tx, { paused: ORDERS, reason: null, audit: { actor, action: "orders.resume", ...TARGET } });
}

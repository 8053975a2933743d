import type { Topic } from "../../core/store/store.ts";
import type { Addresses } from "../context/context.ts";
import type { RateUsage, Tally } from "../plugins/rate-windows.ts";

/** Why a front could not start, for people and for programs. */
export interface FrontFailure {
  code: string;
  message: string;
  hint: string;
}

/** A message of the main process to a front. */
export type ToFront =
  | { kind: "start"; port: number; addresses: Addresses }
  | { kind: "usage"; id: number; usage: RateUsage }
  | { kind: "signal"; topic: Topic }
  | { kind: "stop" };

/** A message of a front to the main process. */
export type FromFront =
  | { kind: "ready" }
  | { kind: "listening"; url: string }
  | ({ kind: "failed" } & FrontFailure)
  | { kind: "tally"; id: number; tally: Tally; way: "count" | "look"; key: string; limit: number }
  | { kind: "wake"; topic: Topic }
  | { kind: "line"; line: string };

/** Whether a message is one of `kinds`: other libraries use the same channel, with other shapes. */
export function isOneOf<M extends ToFront | FromFront>(message: unknown, kinds: readonly M["kind"][]): message is M {
  if (typeof message !== "object" || message === null) return false;
  const kind: unknown = Reflect.get(message, "kind");
  return kinds.some((known) => known === kind);
}

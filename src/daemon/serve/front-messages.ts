import type { Topic } from "../../core/store/store.ts";
import type { Addresses } from "../context/context.ts";
import type { Standing, Tally } from "../plugins/rate-windows.ts";

/** Why a front could not start, in words and for programs. */
export interface FrontFailure {
  code: string;
  message: string;
  hint: string;
}

/** What the main process tells a front. */
export type ToFront =
  | { kind: "start"; port: number; addresses: Addresses }
  | { kind: "standing"; id: number; standing: Standing }
  | { kind: "stop" };

/** What a front tells the main process. */
export type FromFront =
  | { kind: "ready" }
  | { kind: "listening"; url: string }
  | ({ kind: "failed" } & FrontFailure)
  | { kind: "tally"; id: number; tally: Tally; way: "count" | "look"; key: string; limit: number }
  | { kind: "wake"; topic: Topic }
  | { kind: "line"; line: string };

/** Other libraries speak over the same channel: theirs have another shape. */
export function isOurs<M extends ToFront | FromFront>(message: unknown, kinds: readonly M["kind"][]): message is M {
  if (typeof message !== "object" || message === null) return false;
  const kind: unknown = Reflect.get(message, "kind");
  return kinds.some((known) => known === kind);
}

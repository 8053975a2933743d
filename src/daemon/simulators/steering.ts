import { Type } from "typebox";
import { Compile } from "typebox/compile";

/** What a provider is asked for, as steering names it. */
export const simulatedCalls = ["order", "topup", "cancel", "query"] as const;
export type SimulatedCall = (typeof simulatedCalls)[number];

/**
 * How a steered call ends. `refuse`: the provider's definite refusal, nothing is done. `lost`: done, and the connection
 * breaks before the answer. `busy`: the provider's own words for an unknown outcome, nothing is done. `delay`: done,
 * answered after `delay_ms`. `wait`: done, but what was bought is not ready, or not listed, before `delay_ms` passed.
 */
export const simulatedOutcomes = ["refuse", "lost", "busy", "delay", "wait"] as const;
export type SimulatedOutcome = (typeof simulatedOutcomes)[number];

const Steering = Type.Object(
  {
    on: Type.Union(simulatedCalls.map((one) => Type.Literal(one))),
    outcome: Type.Union(simulatedOutcomes.map((one) => Type.Literal(one))),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
  },
  { additionalProperties: false },
);
const steering = Compile(Steering);

/** The next `count` calls of a kind end like this. */
export interface Steered {
  on: SimulatedCall;
  outcome: SimulatedOutcome;
  count: number;
  delay_ms: number;
}

/** How long `delay` and `wait` take where it is not given (ms). */
export const STANDARD_DELAY_MS = 2_000;

/** Steering as it was posted; null: it is not understood. */
export function readSteering(body: unknown): Steered | null {
  if (!steering.Check(body)) return null;
  return { on: body.on, outcome: body.outcome, count: body.count ?? 1, delay_ms: body.delay_ms ?? STANDARD_DELAY_MS };
}

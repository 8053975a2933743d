import type { CarrierExchange } from "../../core/activations/carrier-exchange.ts";
import type { CarrierOutcome } from "../../core/activations/outcome.ts";
import { isRefused } from "../../core/kernel/http-url.ts";
import { keptResponse, type Reported, readCarrierResponse } from "./carrier-response.ts";
import { createSignedExchange, type SignedExchange, type SignedResponse } from "./signed-exchange.ts";

/** Sends requests to every carrier, whatever its adapter. */
export interface CarrierGateway {
  /** Makes one exchange. Never throws: a carrier that cannot be reached is an outcome. */
  exchange(work: CarrierExchange): Promise<Reported>;
  close(): Promise<void>;
}

/** Gateways to all carriers; `publicUrl` is the prefix of their callback addresses. */
export function createCarrierGateway({ now, publicUrl }: { now: () => number; publicUrl: string }): CarrierGateway {
  const signed = createSignedExchange(now);
  return {
    async exchange(work) {
      switch (work.carrier.adapter) {
        case "manual":
          return { outcome: { kind: "waiting" }, statusCode: null, latencyMs: null, answer: null };
        case "simulator":
          return { outcome: askSimulator(work), statusCode: null, latencyMs: null, answer: null };
        case "http":
          return askHttpCarrier(signed, work, publicUrl);
      }
    },
    close: () => signed.close(),
  };
}

/** The path that a carrier calls back at, under the public address. */
function callbackPath(prefix: string): string {
  return `/api/v1/callbacks/carriers/${prefix}`;
}

/** Sends a request to a carrier over its signed HTTP exchange (docs/carriers.md). Never throws. */
async function askHttpCarrier(exchange: SignedExchange, work: CarrierExchange, publicUrl: string): Promise<Reported> {
  const { url, secret, timeoutMs, prefix } = work.carrier;
  if (url === null || secret === null) return unsent("the carrier has no address or no secret");
  if (isRefused(work.carrier)) return unsent("not sent: the carrier's address is not https (carriers set)");
  const { sim_last4, puk, ...identity } = work.identity?.reveal() ?? { sim_last4: null, puk: null };
  const answer = await exchange.post({
    url,
    secret,
    reference: work.id,
    timeoutMs,
    body: {
      reference: work.id,
      iccid: work.iccid,
      activation_date: work.activationDate,
      plan_name: work.planName,
      identity,
      sim: { last4: sim_last4, puk },
      callback_url: `${publicUrl}${callbackPath(prefix)}`,
    },
  });
  return {
    outcome: outcomeOf(answer),
    statusCode: answer.statusCode,
    latencyMs: answer.latencyMs,
    answer: answer.fault ?? keptResponse(answer.body),
  };
}

/** A carrier whose settings do not allow a request. */
function unsent(answer: string): Reported {
  return { outcome: { kind: "temporary" }, statusCode: null, latencyMs: null, answer };
}

/** Statuses that mean a temporary fault, whatever the body is. */
const later: readonly number[] = [408, 425, 429];

/** Only a 2xx with an outcome, or a 4xx with `refused`, is final. Everything else is retried. */
function outcomeOf({ statusCode, body, fault }: SignedResponse): CarrierOutcome {
  const outcome = fault === null ? readCarrierResponse(body) : null;
  if (statusCode === null || outcome === null) return { kind: "temporary" };
  if (statusCode >= 200 && statusCode < 300) return outcome;
  const refused = statusCode >= 400 && statusCode < 500 && !later.includes(statusCode) && outcome.kind === "refused";
  return refused ? outcome : { kind: "temporary" };
}

/** What an ICCID's last two digits make the simulator answer, exchange by exchange; the last answer repeats. */
interface SimulatedEnding {
  ending: string;
  /** In words, for the docs. */
  behavior: string;
  answers: readonly SimulatedResponse[];
}

type SimulatedResponse =
  | { kind: "activated" }
  | { kind: "accepted" | "confirmed"; againInMs?: number }
  | { kind: "refused"; errorType: string; errorMessage: string }
  | { kind: "temporary" };

/** How long the simulator takes between one answer and the next. */
const STEP_MS = 5_000;

/** Like a payment provider's test cards: docs/carriers.md shows this very table. */
export const simulatedEndings: readonly SimulatedEnding[] = [
  {
    ending: "11",
    behavior: "refused: the identity document cannot be verified",
    answers: [
      {
        kind: "refused",
        errorType: "identity_not_verified",
        errorMessage: "The identity document could not be verified.",
      },
    ],
  },
  {
    ending: "12",
    behavior: "refused: the carrier does not know the SIM",
    answers: [{ kind: "refused", errorType: "unknown_sim", errorMessage: "The carrier does not know this SIM." }],
  },
  {
    ending: "13",
    behavior: "refused: the SIM is active already",
    answers: [{ kind: "refused", errorType: "already_active", errorMessage: "This SIM is active already." }],
  },
  {
    ending: "21",
    behavior: "down for two attempts, then activated (after 1 and 2 minutes)",
    answers: [{ kind: "temporary" }, { kind: "temporary" }, { kind: "activated" }],
  },
  {
    ending: "22",
    behavior: "always down: manual_required after 5 retries, 31 minutes later",
    answers: [{ kind: "temporary" }],
  },
  {
    ending: "31",
    behavior: "accepted, activated 5 seconds later",
    answers: [{ kind: "accepted", againInMs: STEP_MS }, { kind: "activated" }],
  },
  {
    ending: "32",
    behavior: "accepted, confirmed 5 seconds later, activated 5 seconds after that",
    answers: [
      { kind: "accepted", againInMs: STEP_MS },
      { kind: "confirmed", againInMs: STEP_MS },
      { kind: "activated" },
    ],
  },
  {
    ending: "33",
    behavior: "accepted, then silence: manual_required after 24 hours",
    answers: [{ kind: "accepted" }],
  },
  {
    ending: "34",
    behavior: "confirmed, then silence: manual_required after 24 hours",
    answers: [{ kind: "confirmed" }],
  },
];

/** What all other endings do. */
export const otherwise: Omit<SimulatedEnding, "ending"> = {
  behavior: "confirmed at once, activated 5 seconds later",
  answers: [{ kind: "confirmed", againInMs: STEP_MS }, { kind: "activated" }],
};

/** Mobile numbers that Australia's regulator reserves for fiction. */
const numbers = ["+61491570006", "+61491570156", "+61491570157", "+61491570158", "+61491570159", "+61491570110"];

/** What the simulated carrier answers after so many exchanges about this ICCID. Makes no network calls. */
function askSimulator({ iccid, exchanges }: { iccid: string; exchanges: number }): CarrierOutcome {
  const { answers } = simulatedEndings.find(({ ending }) => iccid.endsWith(ending)) ?? otherwise;
  const answer = answers[Math.min(exchanges, answers.length - 1)] ?? { kind: "temporary" };
  const confirmationNumber = `SIM-${iccid.slice(-8)}`;
  switch (answer.kind) {
    case "activated":
      return { kind: "activated", mobileNumber: numberFor(iccid), confirmationNumber };
    case "confirmed":
      return { ...answer, kind: "confirmed", confirmationNumber };
    case "accepted":
      return { ...answer, kind: "accepted" };
    default:
      return answer;
  }
}

function numberFor(iccid: string): string {
  return numbers[Number(iccid.slice(-3)) % numbers.length] ?? "+61491570006";
}

import type { CarrierExchange } from "../../core/activations/exchange.ts";
import type { CarrierOutcome } from "../../core/activations/outcome.ts";
import { keptAnswer, type Reported, readCarrierAnswer } from "./carrier-answer.ts";
import type { SignedAnswer, SignedExchange } from "./signed-exchange.ts";

/** The path that a carrier calls back at, under the public address. */
function callbackPath(prefix: string): string {
  return `/api/v1/callbacks/carriers/${prefix}`;
}

/** Asks a carrier over its signed HTTP exchange (docs/carriers.md). Never throws. */
export async function askHttpCarrier(
  exchange: SignedExchange,
  work: CarrierExchange,
  publicUrl: string,
): Promise<Reported> {
  const { url, secret, timeoutMs, prefix } = work.carrier;
  if (url === null || secret === null) return unsent;
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
    outcome: judge(answer),
    statusCode: answer.statusCode,
    latencyMs: answer.latencyMs,
    answer: answer.fault ?? keptAnswer(answer.body),
  };
}

/** A carrier whose settings lost their address or secret while its request waited. */
const unsent: Reported = {
  outcome: { kind: "temporary" },
  statusCode: null,
  latencyMs: null,
  answer: "the carrier has no address or no secret",
};

/** Statuses by which a server says "not now", whatever else it says. */
const later: readonly number[] = [408, 425, 429];

/** Only a clear word counts: a 2xx with an outcome, or a 4xx that says refused. All else is asked again. */
function judge({ statusCode, body, fault }: SignedAnswer): CarrierOutcome {
  const outcome = fault === null ? readCarrierAnswer(body) : null;
  if (statusCode === null || outcome === null) return { kind: "temporary" };
  if (statusCode >= 200 && statusCode < 300) return outcome;
  const clearNo = statusCode >= 400 && statusCode < 500 && !later.includes(statusCode) && outcome.kind === "refused";
  return clearNo ? outcome : { kind: "temporary" };
}

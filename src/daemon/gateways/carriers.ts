import type { CarrierExchange } from "../../core/activations/carrier-exchange.ts";
import type { CarrierOutcome } from "../../core/activations/outcome.ts";
import { isRefused } from "../../core/kernel/http-url.ts";
import { keptResponse, type Reported, readCarrierResponse } from "./carrier-response.ts";
import { askSimulator } from "./carrier-simulator.ts";
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

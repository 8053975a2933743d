import type { CarrierExchange } from "../../core/activations/exchange.ts";
import { askHttpCarrier } from "./carrier-http.ts";
import type { Reported } from "./carrier-response.ts";
import { askSimulator } from "./carrier-simulator.ts";
import { createSignedExchange } from "./signed-exchange.ts";

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

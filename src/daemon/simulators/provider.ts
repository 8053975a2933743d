import type { IncomingHttpHeaders } from "node:http";
import type { SimulatedCall, SimulatedOutcome } from "./steering.ts";

/** A request as a simulated provider gets it. */
export interface ProviderRequest {
  method: string;
  /** Below the provider's base path, e.g. `/esim/order`; without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  body: Buffer;
  /** How this call is to end; null: as the protocol has it. `delay` and `lost` are the frame's own. */
  steered: { outcome: Exclude<SimulatedOutcome, "delay" | "lost">; delay_ms: number } | null;
  /** The clock, in ms. */
  now: number;
}

/** What it answers; `body` of undefined: none. */
export interface ProviderAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** What the call makes it send by itself: after the answer, or before it where `unanswered` is given. */
  callbacks?: ProviderCallback[];
  /** Undoes the call where one of the callbacks is not answered by a 2xx; what it returns is answered instead. */
  unanswered?: () => ProviderAnswer;
}

/** A notice that the provider sends by itself. */
export interface ProviderCallback {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** So long (ms) after the call that it follows; left out: at once. */
  after_ms?: number;
}

/** A person's phone, played: what becomes of an eSIM. */
export interface PlayedEsim {
  iccid: string;
  /** The state as the provider's own words name it; left out: it stays. */
  state?: "installed" | "enabled" | "in_use" | "used_up" | "expired" | "suspended" | "deleted";
  /** Used so far, in megabytes. */
  used_mb?: number;
}

/** One provider's protocol with its memory, strictly as its published pages have it. */
export interface SimulatedProvider {
  name: "esimaccess" | "airalo" | "esimgo";
  /** E.g. `/api/v1/open`. */
  basePath: string;
  /** As `suppliers set --secret` takes it. */
  secret: string;
  /**
   * Which steering a request falls under; null: none. A request that the protocol refuses anyway counts too. Query and
   * body are read because eSIM Go buys and tops up at one path, and asks for a price there.
   */
  callOf(request: Pick<ProviderRequest, "method" | "path" | "query" | "body">): SimulatedCall | null;
  answer(request: ProviderRequest): ProviderAnswer;
  /** Changes an eSIM as a phone would, and says what callbacks that sends. Null: there is no such eSIM. */
  play(played: PlayedEsim, now: number): ProviderCallback[] | null;
  /** Where callbacks go from now on, where the protocol has no call of its own to set it; null: nowhere. */
  notify(url: string | null): void;
  /** Units bought and not given back, and the account's balance as a decimal with four places. */
  state(): { bought: number; balance: string };
  /** Everything as at the start. */
  reset(): void;
}

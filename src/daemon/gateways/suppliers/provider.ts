import type { IncomingHttpHeaders } from "node:http";
import type { Secret } from "../../../core/kernel/secret.ts";
import type {
  Ask,
  Balance,
  Catalog,
  Check,
  EsimRef,
  EsimReportOf,
  Plan,
  Returned,
  Step,
  TopupAsk,
} from "../../../core/supply/provider.ts";
import type { ProviderCalls } from "./calls.ts";

/** A notice of a provider: the exact bytes, and from where they came. */
export interface Notice {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The sender's address, as far as proxies are trusted. */
  address: string;
}

/**
 * A provider's API. Nothing here throws for what a provider does or does not answer: outcomes say it. `Problem`
 * `supplier_unreachable` comes only from what people ask for: `catalog`, `topupPlans`, `balance`, `look`.
 */
export interface Provider {
  /** Makes the next step of buying one unit. */
  buy(ask: Ask): Promise<Step>;
  /** Makes the next step of a top-up. */
  topUp(ask: TopupAsk): Promise<Step>;
  /** Which top-up plans fit an eSIM; null: plans of the catalog serve, see `fits`. */
  topupPlans(esim: EsimRef): Promise<Plan[] | null>;
  /** Whether a plan of the catalog can be put on an eSIM. */
  fits(esim: EsimRef, plan: string): Promise<boolean>;
  /** The whole catalog, without top-ups. */
  catalog(): Promise<Catalog>;
  balance(): Promise<Balance>;
  /** Proves the credential, the balance, and how far the clocks are apart. */
  check(): Promise<Check[]>;
  /** What it knows of these eSIMs; of what it does not know there is nothing in the answer. */
  look(esims: readonly EsimRef[]): Promise<EsimReportOf[]>;
  /** Gives an unused eSIM back. */
  refund(esim: EsimRef): Promise<Returned>;
  /** Asks for another eSIM in the place of a faulty one. */
  replace(esim: EsimRef): Promise<Returned>;
  /**
   * Which eSIMs a notice is about, to be looked up: nothing that it says is believed. `refused`: it is not signed or
   * sent as this provider does it. Empty: it is of no concern.
   */
  readNotice(notice: Notice): { esims: EsimRef[] } | { refused: string };
}

/** What an adapter is made of. */
export interface ProviderParts {
  calls: ProviderCalls;
  /** As `suppliers set --secret` took it. */
  secret: Secret;
  /** The base address, without a slash at its end. */
  url: string;
  /** The clock, in ms. */
  now(): number;
}

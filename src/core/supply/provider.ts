import type { Cost } from "../kernel/brand.ts";
import type { InstallState, Memory } from "../store/schema/values.ts";

/** One unit to be bought, or a top-up, as an adapter gets it. */
export interface Ask {
  /** The plan as the supplier names it, and for how many days a daily plan is bought. */
  plan: string;
  days: number | null;
  /** Ours: a UUID, the same at every step of this purchase and of no other. */
  reference: string;
  /** What it should cost, in 1/10,000; null: not known, then the adapter guards no price. */
  cost: Cost | null;
  /** What the last step noted; null: nothing of the purchase is under way. */
  memory: Memory | null;
  /** Whether `memory` was noted a moment ago by this very run. If not, what it announced may have been done, or not. */
  fresh: boolean;
  /** Which of these references of the supplier's orders are known as those of other purchases. */
  known(references: readonly string[]): Promise<ReadonlySet<string>>;
}

/** An eSIM of a supplier. `reference` is its own name there, which stays where ICCIDs are used again. */
export interface EsimRef {
  iccid: string;
  reference: string | null;
}

/** A top-up of an eSIM. */
export interface TopupAsk extends Ask {
  esim: EsimRef;
}

/** What a supplier delivered. */
export interface BoughtEsim {
  iccid: string;
  /** `LPA:1$<SM-DP+ address>$<matching id>`. */
  activationCode: string;
  confirmationCode: string | null;
  /** See `EsimRef`. */
  reference: string | null;
}

/**
 * How one step of a purchase ended. Only `refused` and `unsent` say that nothing was bought; `unknown` is never bought
 * again by itself.
 */
export type Step =
  /** Before what must not be done twice: `memory` is kept, then the next step follows at once with `fresh`. */
  | {
      kind: "note";
      /** Null: nothing of it is under way, and `hold` alone is taken. */
      memory: Memory | null;
      /** Only one purchase of this plan may be under way until the memory no longer says so; left out: any number. */
      hold?: string;
    }
  /** Bought. `reference` is the supplier's order; `cost` what it says it took, if it says so. */
  | { kind: "bought"; esim: BoughtEsim; reference: string | null; cost: Cost | null }
  /** A top-up is on the eSIM. */
  | { kind: "applied"; reference: string | null; cost: Cost | null }
  /**
   * Definitely not. `account`: no plan of this supplier can be bought just now (balance, credential, address). Partners
   * read the message, and the operator the detail, where there is one.
   */
  | { kind: "refused"; code: string; message: string; detail?: string; because: "plan" | "account" }
  /** No byte of a purchase went out: the connection was never made. What the last note announced is forgotten. */
  | { kind: "unsent"; reason: string }
  /** One of the supplier's limits: nothing happened, and it is no fault. What the last note announced is forgotten. */
  | { kind: "busy"; waitMs: number }
  /** Bought, and still being made ready. `holds`: no other purchase of the plan may be under way yet. */
  | { kind: "wait"; memory: Memory; waitMs: number; holds?: boolean }
  /** It may be bought: it is looked up after `waitMs`. */
  | { kind: "unknown"; reason: string; memory: Memory; waitMs: number }
  /** It may be bought, and every look-up has been made: people decide. */
  | { kind: "lost"; reason: string; memory: Memory };

/** A plan in a supplier's catalog. */
export interface Plan {
  /** As it is ordered. */
  plan: string;
  name: string;
  cost: Cost;
  currency: string;
  /** ISO 3166-1 alpha-2, upper case, sorted. */
  coverage: string[];
  /** The supplier's own name of a region; null: a single country. */
  region: string | null;
  /** In megabytes as the catalog counts them (1 GB = 1,024); 0: unlimited. A daily plan has them each day. */
  dataMb: number;
  unlimited: boolean;
  /** Days it is valid for. A daily plan is sold for 1, 3, 5, 7, 10, 15 and 30 days: `daily` is true and this is 1. */
  validityDays: number;
  daily: boolean;
  voice: boolean;
  /** E.g. "4G/5G"; null: not known. */
  speed: string | null;
  /** Names of networks, for people. */
  networks: string[];
  /** When its validity begins, for people; null: not known. */
  activation: string | null;
  /** For people: fair use, days to install within, breakout. */
  notes: string[];
  topup: boolean;
}

/** A row of a catalog that cannot be read as a plan, and what identifies it. */
export interface UnreadRow {
  /** Its place in the answer, from 1 on. */
  row: number;
  /** The plan, as it is ordered; null: the row does not say it. */
  plan: string | null;
  /** What people may know it by; null: nothing. */
  name: string | null;
  reason: string;
}

/** A supplier's catalog, as far as it can be read. */
export interface Catalog {
  plans: Plan[];
  unread: UnreadRow[];
}

/** What a supplier knows of an eSIM. What it does not show is null. */
export interface EsimReportOf extends EsimRef {
  install: InstallState | null;
  /** In use since, or began to be used up; null: not, or not shown. */
  status: "inactive" | "active" | "used_up" | "expired" | "suspended" | "unknown";
  usedMb: number | null;
  totalMb: number | null;
  activatedAt: number | null;
  expiresAt: number | null;
  country: string | null;
  network: string | null;
  /** When that was true (ms). */
  at: number;
}

/** How giving an eSIM back, or asking for another, ended. */
export type Returned =
  | { outcome: "done"; detail: string; reference: string | null; replacement: BoughtEsim | null }
  | { outcome: "requested"; detail: string; reference: string | null }
  | { outcome: "not_available"; detail: string }
  /** No usable answer; asking again is safe. */
  | { outcome: "unknown"; detail: string };

/** One thing that `suppliers check` found. */
export interface Check {
  name: "credential" | "balance" | "clock" | "catalog";
  ok: boolean;
  detail: string;
}

/** What the account holds. */
export interface Balance {
  currency: string;
  balance: Cost;
}

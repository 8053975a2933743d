import { randomInt, randomUUID } from "node:crypto";
import { luhnDigit } from "../../core/kernel/check-digits.ts";
import type { EsimgoBundle } from "./esimgo-price-list.ts";

/** What is not certain of the real service, or differs by account. */
export interface EsimgoOptions {
  /** Whether unstarted bundles are given back; off until the account manager turns it on, and so here. */
  refunds?: boolean;
  /** GET /catalogue within an envelope with page counts, or as the specification has it: a bare array. */
  catalogue?: "envelope" | "array";
  /** The same of GET /orders; an array where nothing is said. */
  orders?: "envelope" | "array";
  /** How callbacks are signed; base64 where nothing is said. */
  signature?: "base64" | "hex";
  /** How long a new bundle is `processing` (ms); not at all where nothing is said. */
  processing_ms?: number;
  /** Tokens a second; 10 where nothing is said. */
  tokens?: number;
}

/** When something came to be, and when look-ups show it from. */
export interface EsimgoShown {
  at: number;
  shownAt: number;
}

/** Units of one purchase: in the inventory as far as they are not taken and not given back. */
export interface EsimgoStock extends EsimgoShown {
  /** The `usageId`. */
  id: number;
  bundle: EsimgoBundle;
  total: number;
  taken: EsimgoShown[];
  refunded: number;
}

/** A bundle on an eSIM. */
export interface EsimgoAssignment extends EsimgoShown {
  id: string;
  bundle: EsimgoBundle;
  reference: string;
  stock: EsimgoStock;
  taking: EsimgoShown;
  usedBytes: number;
  startedAt: number | null;
  endsAt: number | null;
  /** What ended it before its time. */
  gone: "revoked" | "lapsed" | null;
}

/** An entry of an eSIM's history. */
export interface EsimgoAction {
  name: string;
  at: number;
  bundleName?: string;
  bundleState?: string;
  alertType?: string;
}

/** An eSIM of the account. */
export interface EsimgoEsim extends EsimgoShown {
  iccid: string;
  matchingId: string;
  pin: string;
  puk: string;
  profileName: string;
  profileStatus: "Released" | "Installed" | "Enabled";
  firstInstalledAt: number | null;
  attachedAt: number | null;
  customerRef: string;
  /** `policy`: cannot be lifted over the API. */
  suspended: "api" | "policy" | null;
  deactivated: boolean;
  assignments: EsimgoAssignment[];
  history: EsimgoAction[];
}

/** A line of an order. */
export interface EsimgoLine {
  type: "bundle" | "bundleAssignment" | "topup";
  item: string;
  quantity: number;
  /** In cents. */
  pricePerUnit: number;
  allowReassign: boolean;
  esims: EsimgoEsim[];
}

/** A row of GET /orders. */
export interface EsimgoOrder extends EsimgoShown {
  reference: string;
  lines: EsimgoLine[];
  /** In cents. */
  total: number;
  statusMessage: string;
  createdDate: string;
  assigned: boolean;
  /** In cents, once it was placed. */
  runningBalance: number;
}

/** All that the simulated eSIM Go remembers of the one organisation. */
export interface EsimgoAccount {
  options: EsimgoOptions;
  /** In cents of USD. */
  balance: number;
  bought: number;
  stock: EsimgoStock[];
  esims: Map<string, EsimgoEsim>;
  /** Oldest first. */
  orders: EsimgoOrder[];
  /** What eSIMs an order's or an apply's reference is of. */
  references: Map<string, EsimgoEsim[]>;
  callbackUrl: string | null;
  nextId: number;
}

/** What the account has at the start. */
export const STARTING_BALANCE = 100_000;
export const ESIMGO_CURRENCY = "USD";
export const SMDP_ADDRESS = "rsp.demo-esimgo.example";

/** An account that has bought nothing yet. */
export function createEsimgoAccount(options: EsimgoOptions): EsimgoAccount {
  return {
    options,
    balance: STARTING_BALANCE,
    bought: 0,
    stock: [],
    esims: new Map(),
    orders: [],
    references: new Map(),
    callbackUrl: null,
    nextId: 215_009_266,
  };
}

/** A number that no other usage or assignment of the account has. */
export function nextEsimgoId(account: EsimgoAccount): number {
  account.nextId += 1;
  return account.nextId;
}

/** A new eSIM, not installed. ICCIDs are drawn by chance: callers keep those of earlier runs, which may not return. */
export function createEsimgoEsim(account: EsimgoAccount, profileName: string, shown: EsimgoShown): EsimgoEsim {
  const esim: EsimgoEsim = {
    ...shown,
    iccid: freeIccid(account),
    matchingId: randomUUID().toUpperCase().slice(0, 23),
    pin: String(randomInt(10_000)).padStart(4, "0"),
    puk: String(randomInt(100_000_000)).padStart(8, "0"),
    profileName,
    profileStatus: "Released",
    firstInstalledAt: null,
    attachedAt: null,
    customerRef: "",
    suspended: null,
    deactivated: false,
    assignments: [],
    history: [],
  };
  account.esims.set(esim.iccid, esim);
  return esim;
}

function freeIccid(account: EsimgoAccount): string {
  for (;;) {
    const body = `89445385${String(randomInt(10_000_000_000)).padStart(10, "0")}`;
    const iccid = `${body}${luhnDigit(body)}`;
    if (!account.esims.has(iccid)) return iccid;
  }
}

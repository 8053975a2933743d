import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { luhnDigit } from "../../core/kernel/check-digits.ts";
import type { EaPackage } from "./esimaccess-catalog.ts";
import type { ProviderCallback } from "./provider.ts";

/** The life of an eSIM, without suspension and without what only the clock changes. */
type EaLife = "GOT_RESOURCE" | "IN_USE" | "USED_UP" | "CANCEL" | "REVOKED";
/** As queries and notices show it. */
export type EaStatus = EaLife | "USED_EXPIRED" | "UNUSED_EXPIRED" | "SUSPENDED";
export type EaSmdpStatus = "RELEASED" | "DOWNLOAD" | "INSTALLATION" | "ENABLED" | "DISABLED" | "DELETED";

/** Data and days that were added to an eSIM. */
export interface EaTopup {
  pack: EaPackage;
  transactionId: string;
  esimTranNo: string;
  days: number;
  volume: number;
  price: number;
  createdAt: number;
  /** Queries show it from then on. */
  shownAt: number;
}

/** One unit that was bought. Times in ms, volumes in bytes, prices in 1/10,000 USD. */
export interface EaEsim {
  esimTranNo: string;
  orderNo: string;
  transactionId: string;
  /** What notices of phones have behind the transactionId: empty for an order of one. */
  unitMark: string;
  iccid: string;
  ac: string;
  imsi: string;
  pack: EaPackage;
  days: number;
  volume: number;
  price: number;
  createdAt: number;
  /** Allocated from then on; before, no query shows it. */
  readyAt: number;
  life: EaLife;
  /** Queries show a cancel from then on. */
  cancelShownAt: number;
  suspended: boolean;
  smdpStatus: EaSmdpStatus;
  eid: string;
  installedAt: number | null;
  activatedAt: number | null;
  /** When a phone was played past its validity. */
  expiredAt: number | null;
  used: number;
  usedAt: number | null;
  topups: EaTopup[];
}

/** The memory of the simulated provider. */
export interface EaAccount {
  /** In 1/10,000 USD. */
  balance: number;
  webhook: string | null;
  /** The orders by their transactionId. */
  orders: Map<string, { orderNo: string; transactionId: string }>;
  /** What was answered to top-ups, by their transactionId. */
  topups: Map<string, unknown>;
  esims: EaEsim[];
}

/** 1,000.0000 USD. */
const STARTING_BALANCE = 10_000_000;
const DAY_MS = 86_400_000;

/** An account as it is before its first order. */
export function freshAccount(): EaAccount {
  return { balance: STARTING_BALANCE, webhook: null, orders: new Map(), topups: new Map(), esims: [] };
}

/** Numbers of orders, eSIMs and cards, none of them twice: also not when the program is started again. */
export interface EaNumbers {
  orderNo(now: number): string;
  esimTranNo(now: number): string;
  card(): Pick<EaEsim, "iccid" | "ac" | "imsi">;
}

/** Numbers that begin where chance has it. */
export function freshNumbers(): EaNumbers {
  let serial = randomInt(100_000_000_000, 900_000_000_000);
  const dated = (now: number) => {
    serial += 1;
    return eaTime(now).slice(2, 10).replaceAll("-", "") + String(serial).slice(-8);
  };
  return {
    orderNo: (now) => `B${dated(now)}`,
    esimTranNo: dated,
    card() {
      serial += 1;
      const digits = `894310${serial}`;
      const matchingId = randomBytes(8).toString("hex").toUpperCase();
      return {
        iccid: digits + luhnDigit(digits),
        ac: `LPA:1$smdp.esimaccess.example$${matchingId}`,
        imsi: `204${serial}`,
      };
    },
  };
}

/** What a query shows as its status. */
export function statusOf(esim: EaEsim, now: number): EaStatus {
  if (esim.life === "REVOKED") return "REVOKED";
  if (esim.life === "CANCEL") return esim.cancelShownAt > now ? "GOT_RESOURCE" : "CANCEL";
  if (validUntil(esim, now) <= now) return esim.activatedAt === null ? "UNUSED_EXPIRED" : "USED_EXPIRED";
  return esim.suspended ? "SUSPENDED" : esim.life;
}

/** Its data, with the top-ups that are shown. */
export function volumeOf({ volume, topups }: EaEsim, now: number): number {
  return shown(topups, now).reduce((sum, one) => sum + one.volume, volume);
}

/** Its days, with those of the top-ups that are shown. */
export function daysOf({ days, topups }: EaEsim, now: number): number {
  return shown(topups, now).reduce((sum, one) => sum + one.days, days);
}

/** Until when it can be used, or has to be begun (ms). */
export function validUntil(esim: EaEsim, now: number): number {
  if (esim.expiredAt !== null) return esim.expiredAt;
  if (esim.activatedAt !== null) return esim.activatedAt + daysOf(esim, now) * DAY_MS;
  return esim.createdAt + esim.pack.unusedValidTime * DAY_MS;
}

/** The top-ups that queries show by now. */
export function shown(topups: readonly EaTopup[], now: number): EaTopup[] {
  return topups.filter(({ shownAt }) => shownAt <= now);
}

/** A moment as the provider writes it: 2026-09-27T19:29:36+0000. */
export function eaTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+0000`;
}

/** A notice to the account's address; none where there is no address. */
export function noticesOf(
  { webhook }: Pick<EaAccount, "webhook">,
  notifyType: string,
  content: Record<string, unknown>,
  now: number,
): ProviderCallback[] {
  if (webhook === null) return [];
  const notifyId = randomUUID().replaceAll("-", "");
  const body = JSON.stringify({ notifyType, eventGenerateTime: eaTime(now), notifyId, content });
  return [{ url: webhook, headers: { "content-type": "application/json" }, body }];
}

import { randomInt } from "node:crypto";
import {
  daysOf,
  type EaAccount,
  type EaEsim,
  type EaSmdpStatus,
  eaTime,
  noticesOf,
  statusOf,
  validUntil,
  volumeOf,
} from "./esimaccess-account.ts";
import type { PlayedEsim, ProviderCallback } from "./provider.ts";

const MEGABYTE = 1_048_576;
const DAY_MS = 86_400_000;
/** The steps of a profile on its way into use. */
const steps: readonly EaSmdpStatus[] = ["RELEASED", "DOWNLOAD", "INSTALLATION", "ENABLED"];
/** Used in percent, and what is left then. */
const thresholds = [
  { used: 50, remain: 0.5 },
  { used: 80, remain: 0.2 },
  { used: 90, remain: 0.1 },
] as const;

/**
 * Changes an eSIM as a phone does and returns the notices that it sends. Null: there is none, or it was given back or
 * revoked. One that is expired stays as it is.
 */
export function playPhone(account: EaAccount, played: PlayedEsim, now: number): ProviderCallback[] | null {
  const esim = account.esims.findLast(({ iccid, readyAt }) => iccid === played.iccid && readyAt <= now);
  if (esim === undefined || esim.life === "CANCEL" || esim.life === "REVOKED") return null;
  if (validUntil(esim, now) <= now) return [];
  const before = { status: statusOf(esim, now), used: esim.used };
  const passed = stepsOf(esim, played).flatMap((step) => {
    enter(esim, step, now);
    return noticesOf(account, "SMDP_EVENT", phoneEvent(esim, now), now);
  });
  live(esim, played, now);
  const ends = played.state === "expired" && esim.activatedAt !== null;
  const validity = ends ? noticesOf(account, "VALIDITY_USAGE", validityLeft(esim, now), now) : [];
  if (played.state === "expired") esim.expiredAt = now;
  const changed = statusOf(esim, now) !== before.status;
  return [
    ...passed,
    ...usageNotices(account, esim, before.used, now),
    ...validity,
    ...(changed ? noticesOf(account, "ESIM_STATUS", lifeEvent(esim, now), now) : []),
  ];
}

/** What happens to the profile on the phone, step by step. */
function stepsOf(esim: EaEsim, { state, used_mb = 0 }: PlayedEsim): readonly EaSmdpStatus[] {
  const at = steps.indexOf(esim.smdpStatus);
  const onward = (goal: EaSmdpStatus) =>
    steps.slice(at + 1, steps.indexOf(goal) + 1).filter((one) => one !== "RELEASED");
  if (state === "deleted") return esim.smdpStatus === "DELETED" ? [] : ["DELETED"];
  if (state === "installed") return esim.smdpStatus === "ENABLED" ? ["DISABLED"] : fromDisabled(esim, [], onward);
  const uses = state === "enabled" || state === "in_use" || state === "used_up" || used_mb > esim.used / MEGABYTE;
  return uses ? fromDisabled(esim, ["ENABLED"], onward) : [];
}

/** A disabled profile is on the phone already. */
function fromDisabled(
  { smdpStatus }: EaEsim,
  then: readonly EaSmdpStatus[],
  onward: (goal: EaSmdpStatus) => readonly EaSmdpStatus[],
): readonly EaSmdpStatus[] {
  return smdpStatus === "DISABLED" ? then : onward(then[0] ?? "INSTALLATION");
}

function enter(esim: EaEsim, step: EaSmdpStatus, now: number): void {
  esim.smdpStatus = step;
  if (step === "DOWNLOAD" && esim.eid === "") esim.eid = newEid();
  if (step === "INSTALLATION") esim.installedAt ??= now;
}

/** Its use and its life, after its steps on the phone. */
function live(esim: EaEsim, { state, used_mb }: PlayedEsim, now: number): void {
  const total = volumeOf(esim, now);
  const used = used_mb === undefined ? esim.used : Math.min(total, Math.round(used_mb * MEGABYTE));
  const next = state === "used_up" ? total : used;
  if (next !== esim.used) esim.usedAt = now;
  esim.used = next;
  if (state === "suspended") esim.suspended = true;
  else if (state === "enabled" || state === "in_use" || state === "used_up") esim.suspended = false;
  if (state === "in_use" || next > 0) {
    esim.activatedAt ??= now;
    esim.life = next >= total ? "USED_UP" : "IN_USE";
  }
}

function phoneEvent(esim: EaEsim, now: number) {
  const { eid, iccid, smdpStatus, orderNo, esimTranNo, transactionId, unitMark } = esim;
  const esimStatus = statusOf(esim, now);
  return { eid, iccid, esimStatus, smdpStatus, orderNo, esimTranNo, transactionId: transactionId + unitMark };
}

function lifeEvent(esim: EaEsim, now: number) {
  const { orderNo, esimTranNo, transactionId, iccid, smdpStatus } = esim;
  return { orderNo, esimTranNo, transactionId, iccid, esimStatus: statusOf(esim, now), smdpStatus };
}

/** One notice for each threshold that was passed. */
function usageNotices(account: EaAccount, esim: EaEsim, before: number, now: number): ProviderCallback[] {
  const totalVolume = volumeOf(esim, now);
  const percent = (used: number) => (used / totalVolume) * 100;
  const { orderNo, transactionId, esimTranNo, iccid, used } = esim;
  return thresholds
    .filter((one) => percent(before) < one.used && percent(used) >= one.used)
    .flatMap(({ remain: remainThreshold }) => {
      const left = { totalVolume, orderUsage: used, remain: totalVolume - used, lastUpdateTime: eaTime(now) };
      const content = { orderNo, transactionId, esimTranNo, iccid, ...left, remainThreshold };
      return noticesOf(account, "DATA_USAGE", content, now);
    });
}

/** As it is sent when one day is left. */
function validityLeft(esim: EaEsim, now: number) {
  const { orderNo, transactionId, iccid, pack } = esim;
  const expiredTime = eaTime(Math.min(validUntil(esim, now), now + DAY_MS));
  return {
    orderNo,
    transactionId,
    iccid,
    durationUnit: pack.durationUnit,
    totalDuration: daysOf(esim, now),
    expiredTime,
    remain: 1,
  };
}

/** 32 digits whose last two are right. */
function newEid(): string {
  const digits = `8904903200000888260000${String(randomInt(100_000_000)).padStart(8, "0")}`;
  return digits + String(98n - ((BigInt(digits) * 100n) % 97n)).padStart(2, "0");
}

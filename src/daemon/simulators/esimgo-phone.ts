import type { EsimgoAccount, EsimgoAssignment, EsimgoEsim } from "./esimgo-account.ts";
import { bundleState, bytesLeft, initialBytes, isUsable } from "./esimgo-assignments.ts";
import { type EsimgoNotice, usageNotice } from "./esimgo-callbacks.ts";
import type { PlayedEsim } from "./provider.ts";

const DAY_MS = 86_400_000;
const MEGABYTE = 1_000_000;
/** Shares of a bundle whose use is notified, in percent. */
const thresholds = [50, 80, 100];

/** An eSIM in a phone, at a time. */
interface InPhone {
  account: EsimgoAccount;
  esim: EsimgoEsim;
  now: number;
}

/** Changes an eSIM as a phone would, and says what is notified of it. Null: the account has no such eSIM. */
export function playEsim(account: EsimgoAccount, played: PlayedEsim, now: number): EsimgoNotice[] | null {
  const esim = account.esims.get(played.iccid);
  if (esim === undefined) return null;
  const phone = { account, esim, now };
  const notices = played.state === undefined ? [] : enter(phone, played.state);
  if (played.used_mb === undefined) return notices;
  const used = esim.assignments.reduce((sum, one) => sum + one.usedBytes, 0);
  const more = Math.round(played.used_mb * MEGABYTE) - used;
  return more > 0 ? [...notices, ...attach(phone), ...use(phone, more)] : notices;
}

function enter(phone: InPhone, state: NonNullable<PlayedEsim["state"]>): EsimgoNotice[] {
  const { esim } = phone;
  if (state === "suspended") esim.suspended = "policy";
  else if (esim.suspended === "policy") esim.suspended = null;
  switch (state) {
    case "installed":
      install(phone);
      esim.profileStatus = "Installed";
      return [];
    case "enabled":
      return attach(phone);
    case "in_use":
      return [...attach(phone), ...start(phone, current(phone))];
    case "used_up":
      return [...attach(phone), ...use(phone, limitedBytes(phone))];
    case "expired":
      expire(phone);
      return [];
    case "suspended":
      return [];
    case "deleted":
      // The profile can be had again: that it was installed shows by its time alone.
      esim.profileStatus = "Released";
      return [];
  }
}

function install({ esim, now }: InPhone): void {
  esim.firstInstalledAt ??= now;
}

/** On a network: the first time is notified. */
function attach(phone: InPhone): EsimgoNotice[] {
  const { esim, now } = phone;
  install(phone);
  esim.profileStatus = "Enabled";
  const first = esim.attachedAt === null;
  esim.attachedAt = now;
  if (!first) return [];
  esim.history.push({ name: "eSIM First Attachment", at: now });
  return [{ alertType: "FirstAttachment", iccid: esim.iccid }];
}

/** The bundle that data is taken from: the running one, or the oldest of those that wait. */
function current({ account, esim, now }: InPhone): EsimgoAssignment | undefined {
  const usable = esim.assignments.filter((one) => isUsable(one, account, now));
  return usable.find(({ startedAt }) => startedAt !== null) ?? usable[0];
}

/** The duration runs from the first use on. */
function start({ account, esim, now }: InPhone, assignment: EsimgoAssignment | undefined): EsimgoNotice[] {
  if (assignment === undefined || assignment.startedAt !== null) return [];
  assignment.startedAt = now;
  assignment.endsAt = now + assignment.bundle.days * DAY_MS;
  const bundleName = assignment.bundle.name;
  const state = bundleState(assignment, account, now);
  esim.history.push({ name: "eSIM First Use", at: now, bundleName, bundleState: state });
  return [usageNotice("FirstUse", esim, assignment)];
}

/** Uses data, bundle after bundle; what no bundle has left is not used. */
function use(phone: InPhone, bytes: number): EsimgoNotice[] {
  const notices: EsimgoNotice[] = [];
  for (let left = bytes; left > 0; ) {
    const assignment = current(phone);
    if (assignment === undefined) break;
    notices.push(...start(phone, assignment));
    const taken = assignment.bundle.unlimited ? left : Math.min(left, bytesLeft(assignment));
    notices.push(...takeFrom(phone, assignment, taken));
    left -= taken;
  }
  return notices;
}

function takeFrom({ esim, now }: InPhone, assignment: EsimgoAssignment, bytes: number): EsimgoNotice[] {
  const initial = initialBytes(assignment);
  const before = assignment.usedBytes;
  assignment.usedBytes += bytes;
  if (assignment.bundle.unlimited) return [];
  const crossed = thresholds.filter((share) => {
    const edge = (initial * share) / 100;
    return before < edge && assignment.usedBytes >= edge;
  });
  return crossed.map((share) => {
    const alertType = `${share}% Used`;
    esim.history.push({ name: "eSIM Utilisation Alert", at: now, bundleName: assignment.bundle.name, alertType });
    return usageNotice("Utilisation", esim, assignment);
  });
}

/** All that can be used, without what has no end. */
function limitedBytes({ account, esim, now }: InPhone): number {
  const limited = esim.assignments.filter((one) => isUsable(one, account, now) && !one.bundle.unlimited);
  return limited.reduce((sum, one) => sum + bytesLeft(one), 0);
}

/** The time of what was started is over, and what never was has lapsed. */
function expire({ account, esim, now }: InPhone): void {
  for (const one of esim.assignments.filter(({ gone }) => gone === null)) {
    if (one.startedAt === null) one.gone = "lapsed";
    else one.endsAt = now;
    const name = one.startedAt === null ? "Bundle Lapsed" : "Bundle Expired";
    const state = bundleState(one, account, now);
    esim.history.push({ name, at: now, bundleName: one.bundle.name, bundleState: state });
  }
}

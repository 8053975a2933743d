import type { EsimRow } from "../esims/esim.ts";
import { isoTime } from "../kernel/clock.ts";
import { findByKey } from "../store/rows.ts";
import type { Read } from "../store/store.ts";
import type { EsimReportOf } from "../supply/provider.ts";
import { lastReturn } from "./give-back.ts";

/** What an eSIM is found to be. */
export type Verdict =
  | "never_downloaded"
  | "installed_not_enabled"
  | "used_up"
  | "expired"
  | "suspended"
  | "ok"
  | "unknown";

/** What each is for people. */
export const verdictWords: Readonly<Record<Verdict, string>> = {
  never_downloaded: "never downloaded",
  installed_not_enabled: "installed, not switched on",
  used_up: "used up",
  expired: "expired",
  suspended: "suspended",
  ok: "in order",
  unknown: "not known",
};

/** What is found of one eSIM. */
export interface Diagnosis {
  iccid: string;
  verdict: Verdict;
  /** What it follows from, for support. */
  evidence: string[];
  /** What to write to the traveler. */
  message: string;
}

/** All that is known of an eSIM. */
export interface EsimFacts {
  esim: EsimRow;
  /** Megabytes that its product promises. */
  promisedMb: number;
  /** Whether it was given back, and repaid. */
  givenBack: boolean;
  /** What its supplier shows now; null: nothing, `silence` says why. */
  look: EsimReportOf | null;
  silence: string | null;
  /** The clock, in ms. */
  now: number;
}

/** What is stored of an eSIM. */
export type StoredFacts = Omit<EsimFacts, "look" | "silence">;

/** Reads what is stored of eSIMs. */
export async function storedFacts(q: Read, esims: readonly EsimRow[]): Promise<StoredFacts[]> {
  const all: StoredFacts[] = [];
  for (const esim of esims) {
    const product = await findByKey(q, "products", { id: esim.product_id });
    const refund = await lastReturn(q, { esim_id: esim.id, kind: "refund" });
    const givenBack = refund?.outcome === "done";
    all.push({ esim, promisedMb: product?.data_amount_mb ?? 0, givenBack, now: q.now });
  }
  return all;
}

/** Says what an eSIM is, from what is stored and what its supplier shows now, which is the newer word. */
export function diagnose(facts: EsimFacts): Diagnosis {
  const seen = seenOf(facts);
  const verdict = verdictOf(seen);
  return {
    iccid: facts.esim.iccid,
    verdict,
    evidence: evidenceOf(facts, seen),
    message: messageOf(verdict, seen),
  };
}

/** The newest word of each thing. */
interface Seen extends Pick<EsimReportOf, "install" | "usedMb" | "totalMb" | "expiresAt"> {
  status: EsimReportOf["status"];
  ended: boolean;
  givenBack: boolean;
}

function seenOf({ esim, promisedMb, givenBack, look, now }: EsimFacts): Seen {
  const status = givenBack ? "expired" : statusOf(esim, look);
  // The end of one that was not used is that of its installation.
  const begun = esim.activated_at !== null || status === "active" || status === "used_up";
  const expiresAt = begun ? (look?.expiresAt ?? esim.expires_at) : null;
  return {
    status,
    install: look?.install ?? esim.install_state,
    usedMb: look?.usedMb ?? esim.used_mb,
    totalMb: look?.totalMb ?? esim.total_mb ?? (promisedMb > 0 ? promisedMb : null),
    expiresAt,
    ended: status === "expired" || (expiresAt !== null && expiresAt <= now),
    givenBack,
  };
}

/** A state without a name in common, e.g. revoked at the supplier, is no state that was known before. */
function statusOf({ status }: EsimRow, look: EsimReportOf | null): Seen["status"] {
  if (look === null) return status;
  const ends = status === "expired" || status === "suspended";
  return look.status === "unknown" && ends ? status : look.status;
}

function verdictOf(seen: Seen): Verdict {
  if (seen.ended) return "expired";
  if (seen.status === "suspended") return "suspended";
  if (isUsedUp(seen)) return "used_up";
  if (seen.status === "unknown") return "unknown";
  const used = seen.status === "active" || (seen.usedMb ?? 0) > 0;
  switch (seen.install) {
    case "not_downloaded":
      // In use by another word: the two do not agree.
      return used ? "unknown" : "never_downloaded";
    case "downloaded":
    case "installed":
      // Not every platform reports that an eSIM is switched on; use shows that it was.
      return used ? "ok" : "installed_not_enabled";
    case "disabled":
      return "installed_not_enabled";
    case "enabled":
      return "ok";
    case "deleted":
      return "unknown";
    case null:
      return used ? "ok" : "unknown";
  }
}

function isUsedUp({ status, usedMb, totalMb }: Seen): boolean {
  return status === "used_up" || (usedMb !== null && totalMb !== null && totalMb > 0 && usedMb >= totalMb);
}

function evidenceOf({ esim, look, silence, givenBack }: EsimFacts, seen: Seen): string[] {
  const { supplier, status, activated_at, usage_at } = esim;
  const active = activated_at === null ? "never active" : `active since ${isoTime(activated_at)}`;
  const source = supplier ?? "the stock";
  return [
    `here: ${status}, ${active}`,
    look === null ? `${source}: ${silence ?? "shows nothing"}` : `${source} shows: ${look.status}`,
    `installation: ${installWords(seen, esim)}`,
    `data: ${dataWords(seen, look?.at ?? usage_at)}`,
    ...(seen.expiresAt === null ? [] : [`valid until ${isoTime(seen.expiresAt)}`]),
    ...(givenBack ? ["it was given back, and its price repaid"] : []),
  ];
}

const installs: Readonly<Record<NonNullable<Seen["install"]>, string>> = {
  not_downloaded: "never downloaded",
  downloaded: "downloaded, not installed",
  installed: "installed, not switched on",
  enabled: "installed and switched on",
  disabled: "installed, switched off",
  deleted: "removed from the phone",
};

function installWords({ install }: Seen, { supplier }: EsimRow): string {
  if (install !== null) return installs[install];
  return supplier === null ? "not known here" : `not known here: ${supplier} has not shown it`;
}

function dataWords({ usedMb, totalMb }: Seen, at: number | null): string {
  if (usedMb === null) return "use was never reported";
  const total = totalMb === null ? "" : ` of ${totalMb}`;
  return `${usedMb}${total} MB used${at === null ? "" : `, as of ${isoTime(at)}`}`;
}

const messages: Readonly<Record<Verdict, string>> = {
  never_downloaded:
    "Your eSIM is not on a phone yet. Connect your phone to Wi-Fi, open the link or scan the QR code that you got, " +
    "and add the eSIM.",
  installed_not_enabled:
    "Your eSIM is on your phone and switched off. In the settings for mobile networks switch it on, choose it for " +
    "mobile data, and allow data roaming.",
  used_up: "All data of your eSIM is used up. Add more data, or buy another eSIM, to go online again.",
  expired: "The time of your eSIM is over, and it can no longer be used. Buy another one to go online again.",
  suspended: "Your eSIM is suspended at the moment. Please answer this message, and we find out why.",
  ok:
    "Your eSIM is switched on and in order. If you are not online: choose it for mobile data, allow data roaming, " +
    "and switch flight mode on and off once.",
  unknown:
    "We cannot see from here what is wrong. Check that the eSIM is installed and switched on, that it is chosen for " +
    "mobile data, and that data roaming is allowed. If that does not help, please answer this message.",
};

const REMOVED =
  "Your eSIM was removed from your phone, and most eSIMs cannot be installed twice. Please answer this message, and " +
  "we see what can be done.";
const REPAID = "This eSIM was given back and can no longer be used; its price was repaid.";

function messageOf(verdict: Verdict, { install, givenBack }: Seen): string {
  if (givenBack) return REPAID;
  return verdict === "unknown" && install === "deleted" ? REMOVED : messages[verdict];
}

import type { EsimRef, EsimReportOf } from "../../../../core/supply/provider.ts";
import { type Reply, usable } from "../reply.ts";
import { installOf, nothingShown } from "../reports.ts";
import { momentOf } from "../values.ts";
import { accountBalance } from "./account.ts";
import { type Client, NAME } from "./client.ts";
import { type Assigned, bundlesOn, type EsimgoEsim, esimOf } from "./esims.ts";

const BYTES = 1_000_000;
/** What the provider knows of these eSIMs; what is not of the account is left out. Throws `supplier_unreachable`. */
export async function lookAt(client: Client, esims: readonly EsimRef[], now: () => number): Promise<EsimReportOf[]> {
  const reports: EsimReportOf[] = [];
  for (const ref of esims) {
    const esim = await known(client, await esimOf(client.askPeople, ref.iccid));
    const bundles = esim && (await known(client, await bundlesOn(client.askPeople, ref.iccid)));
    if (esim !== null && bundles !== null) reports.push({ ...ref, ...reportOf(esim, bundles), at: now() });
  }
  return reports;
}

/** 403 is the word both for another account's eSIM and for a key that is wrong: the account shows which. */
async function known<T>(client: Client, reply: Reply<T>): Promise<T | null> {
  if (reply.kind !== "refused") return usable(NAME, reply);
  if (reply.code === "403") usable(NAME, await accountBalance(client.askPeople));
  return reply.code === "401" ? usable(NAME, reply) : null;
}

function reportOf(esim: EsimgoEsim, all: readonly Assigned[]): Omit<EsimReportOf, "iccid" | "reference" | "at"> {
  const bundles = all.filter(({ bundleState }) => bundleState !== "revoked");
  const [bytes, left] = [sumOf(bundles, "initialQuantity"), sumOf(bundles, "remainingQuantity")];
  const starts = bundles.flatMap(({ startTime }) => momentOf(startTime) ?? []);
  const ends = bundles.flatMap(({ endTime }) => momentOf(endTime) ?? []);
  const waiting = bundles.some(isWaiting);
  return {
    ...nothingShown,
    install: ofPhone(esim),
    status: statusOf(esim, bundles),
    usedMb: bytes === null || left === null ? null : Math.floor(Math.max(0, bytes - left) / BYTES),
    totalMb: bytes === null ? null : Math.floor(bytes / BYTES),
    activatedAt: starts.length === 0 ? null : Math.min(...starts),
    // A bundle that waits for its start ends at a time that is not known yet.
    expiresAt: waiting || ends.length === 0 ? null : Math.max(...ends),
  };
}

/** One that was removed from its phone is released again. */
function ofPhone({ profileStatus, firstInstalledDateTime }: EsimgoEsim): EsimReportOf["install"] {
  const install = installOf(profileStatus);
  return install === "not_downloaded" && momentOf(firstInstalledDateTime) !== null ? "deleted" : install;
}

function statusOf({ state }: EsimgoEsim, bundles: readonly Assigned[]): EsimReportOf["status"] {
  if (state === "suspended") return "suspended";
  if (state === "deactivated") return "expired";
  const started = bundles.some(({ startTime }) => momentOf(startTime) !== null);
  if (bundles.some(({ bundleState }) => bundleState === "active")) return "active";
  if (bundles.some(isWaiting)) return started ? "active" : "inactive";
  const last = bundles.toSorted((a, b) => (momentOf(a.endTime) ?? 0) - (momentOf(b.endTime) ?? 0)).at(-1);
  if (last?.bundleState === "depleted") return "used_up";
  return last?.bundleState === "expired" || last?.bundleState === "lapsed" ? "expired" : "unknown";
}

function isWaiting({ bundleState }: Assigned): boolean {
  return bundleState === "queued" || bundleState === "processing";
}

/** In bytes; null: it is not shown, or there is no bound. */
function sumOf(bundles: readonly Assigned[], field: "initialQuantity" | "remainingQuantity"): number | null {
  if (bundles.length === 0 || bundles.some((one) => one.unlimited === true || typeof one[field] !== "number"))
    return null;
  return bundles.reduce((sum, one) => sum + (one[field] ?? 0), 0);
}

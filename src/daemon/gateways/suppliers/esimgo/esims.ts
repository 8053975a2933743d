import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, EsimReportOf } from "../../../../core/supply/provider.ts";
import { done, type Failed, mapped, type Reply } from "../reply.ts";
import { installOf, type Shown } from "../reports.ts";
import { maybe, momentOf, TextOrNumber } from "../values.ts";
import { accountBalance, type Client } from "./client.ts";

const Esim = Type.Object({
  iccid: Type.String(),
  matchingId: Type.String(),
  smdpAddress: Type.String(),
  ...maybe(Type.String(), "profileStatus", "state"),
  ...maybe(TextOrNumber, "firstInstalledDateTime"),
});
type Esim = Type.Static<typeof Esim>;
const esim = Compile(Esim);
const Assignment = Type.Object({
  id: TextOrNumber,
  bundleState: Type.String(),
  ...maybe(Type.String(), "assignmentReference", "startTime", "endTime"),
  ...maybe(Type.Number(), "initialQuantity", "remainingQuantity"),
  ...maybe(Type.Boolean(), "unlimited"),
});
const Bundle = Type.Object({ name: Type.String(), assignments: Type.Array(Assignment) });
const bundles = Compile(Type.Object({ bundles: Type.Array(Bundle) }));

/** A bundle on an eSIM; its state is in lower case. */
export type Assigned = Type.Static<typeof Assignment> & { plan: string };

const MEGABYTE = 1_000_000;

/** An eSIM by its ICCID. */
export function esimOf(client: Client, iccid: string): Promise<Reply<Esim>> {
  return client({ method: "GET", path: `/esims/${encodeURIComponent(iccid)}` }, esim);
}

/** Every bundle that is or was on an eSIM. */
export async function bundlesOn(client: Client, iccid: string): Promise<Reply<Assigned[]>> {
  const path = `/esims/${encodeURIComponent(iccid)}/bundles?includeUsed=true&limit=200`;
  return mapped(await client({ method: "GET", path }, bundles), (shown) =>
    shown.bundles.flatMap(({ name: plan, assignments }) =>
      assignments.map((one) => ({ ...one, plan, bundleState: one.bundleState.toLowerCase() })),
    ),
  );
}

/** The order or the apply that put a bundle on an eSIM: its own reference has the unit's place behind it. */
export function referenceOf({ assignmentReference }: Assigned): string | null {
  return assignmentReference?.replace(/-\d{1,4}$/, "") || null;
}

/** Whether a bundle is not started yet. */
export function isWaiting({ bundleState }: Assigned): boolean {
  return bundleState === "queued" || bundleState === "processing";
}

/** What the provider shows of an eSIM; null: it is not of the account. */
export async function lookAt(client: Client, { iccid }: EsimRef): Promise<Reply<Shown | null>> {
  const esim = await esimOf(client, iccid);
  if (esim.kind !== "done") return notShown(client, esim);
  const on = await bundlesOn(client, iccid);
  return on.kind === "done" ? done(shownOf(esim.value, on.value)) : notShown(client, on);
}

/** 403 is the word both for another account's eSIM and for a key that is wrong: the account shows which. */
async function notShown(client: Client, reply: Failed): Promise<Reply<null>> {
  if (reply.kind !== "refused" || reply.code === "401") return reply;
  return reply.code === "403" ? mapped(await accountBalance(client), () => null) : done(null);
}

function shownOf(esim: Esim, all: readonly Assigned[]): Shown {
  const bundles = all.filter(({ bundleState }) => bundleState !== "revoked");
  const [bytes, left] = [sumOf(bundles, "initialQuantity"), sumOf(bundles, "remainingQuantity")];
  const starts = bundles.flatMap(({ startTime }) => momentOf(startTime) ?? []);
  const ends = bundles.flatMap(({ endTime }) => momentOf(endTime) ?? []);
  const install = installOf(esim.profileStatus);
  const wasInstalled = momentOf(esim.firstInstalledDateTime) !== null;
  return {
    // One that was removed from its phone is released again.
    install: install === "not_downloaded" && wasInstalled ? "deleted" : install,
    status: statusOf(esim, bundles),
    usedMb: bytes === null || left === null ? null : Math.floor(Math.max(0, bytes - left) / MEGABYTE),
    totalMb: bytes === null ? null : Math.floor(bytes / MEGABYTE),
    activatedAt: starts.length === 0 ? null : Math.min(...starts),
    // A bundle that waits for its start ends at a time that is not known yet.
    expiresAt: ends.length === 0 || bundles.some(isWaiting) ? null : Math.max(...ends),
  };
}

/** What an eSIM is whose last bundle ended so. */
const ended: Readonly<Record<string, EsimReportOf["status"]>> = {
  ...{ depleted: "used_up", expired: "expired", lapsed: "expired" },
};

function statusOf({ state }: Esim, bundles: readonly Assigned[]): EsimReportOf["status"] {
  if (state === "suspended") return "suspended";
  if (state === "deactivated") return "expired";
  if (bundles.some(({ bundleState }) => bundleState === "active")) return "active";
  const started = bundles.some(({ startTime }) => momentOf(startTime) !== null);
  if (bundles.some(isWaiting)) return started ? "active" : "inactive";
  const last = bundles.toSorted((a, b) => (momentOf(a.endTime) ?? 0) - (momentOf(b.endTime) ?? 0)).at(-1);
  return ended[last?.bundleState ?? ""] ?? "unknown";
}

/** In bytes; null: it is not shown, or there is no bound. */
function sumOf(bundles: readonly Assigned[], field: "initialQuantity" | "remainingQuantity"): number | null {
  const bytes = bundles.map((one) => (one.unlimited === true ? null : one[field]));
  const shown = bytes.filter((one) => typeof one === "number");
  return shown.length === 0 || shown.length < bytes.length ? null : shown.reduce((sum, one) => sum + one, 0);
}

import {
  createEsimgoEsim,
  type EsimgoAccount,
  type EsimgoAssignment,
  type EsimgoEsim,
  type EsimgoShown,
  type EsimgoStock,
  nextEsimgoId,
} from "./esimgo-account.ts";
import { choice, type EsimgoCall, EsimgoRefusal, isShown, seconds, wholeNumber } from "./esimgo-call.ts";
import { bundleAllowances, bundleForSale } from "./esimgo-catalogue.ts";
import { knownEsim } from "./esimgo-esims.ts";
import { isRefundable, repay } from "./esimgo-inventory.ts";
import type { EsimgoBundle } from "./esimgo-price-list.ts";
import type { ProviderAnswer } from "./provider.ts";

const MEGABYTE = 1_000_000;

/** States after which nothing of a bundle can be used. */
const over = ["depleted", "expired", "revoked", "lapsed"];

/** What a bundle's state is at a time, in the words of bodies. */
export function bundleState(assignment: EsimgoAssignment, { options }: EsimgoAccount, now: number): string {
  if (assignment.gone !== null) return assignment.gone;
  if (assignment.startedAt === null)
    return now < assignment.at + (options.processing_ms ?? 0) ? "processing" : "queued";
  if (assignment.endsAt !== null && assignment.endsAt <= now) return "expired";
  return !assignment.bundle.unlimited && bytesLeft(assignment) === 0 ? "depleted" : "active";
}

/** Whether something of a bundle can still be used. */
export function isUsable(assignment: EsimgoAssignment, account: EsimgoAccount, now: number): boolean {
  return !over.includes(bundleState(assignment, account, now));
}

/** Bytes at the start; 0 where it is unlimited. */
export function initialBytes({ bundle }: EsimgoAssignment): number {
  return bundle.megabytes * MEGABYTE;
}

/** Bytes that are not used. */
export function bytesLeft(assignment: EsimgoAssignment): number {
  return Math.max(0, initialBytes(assignment) - assignment.usedBytes);
}

/** The eSIM that a bundle goes on: another, new one where it is of another operator and that is allowed. */
export function targetOf(call: EsimgoCall, bundle: EsimgoBundle, iccid: string | null, allowReassign: boolean) {
  if (iccid === null) return null;
  const esim = knownEsim(call, iccid);
  if (esim.deactivated) throw new EsimgoRefusal(400, `eSIM ${iccid} is deactivated`);
  if (esim.profileName === bundle.profileName) return esim;
  if (allowReassign) return null;
  throw new EsimgoRefusal(400, `Bundle ${bundle.name} is not compatible with eSIM ${iccid}`);
}

/** Puts a unit of stock on an eSIM, or on a new one where `esim` is null. */
export function assign(
  account: EsimgoAccount,
  stock: EsimgoStock,
  esim: EsimgoEsim | null,
  { reference, shown }: { reference: string; shown: EsimgoShown },
): EsimgoEsim {
  const on = esim ?? createEsimgoEsim(account, stock.bundle.profileName, shown);
  const taking = { ...shown };
  stock.taken.push(taking);
  on.assignments.push({
    ...shown,
    id: String(nextEsimgoId(account)),
    bundle: stock.bundle,
    reference,
    stock,
    taking,
    usedBytes: 0,
    startedAt: null,
    endsAt: null,
    gone: null,
  });
  on.history.push({ name: "Bundle Applied", at: shown.at, bundleName: stock.bundle.name, bundleState: "processing" });
  return on;
}

/** GET /esims/{iccid}/bundles. */
export function listAssignments(call: EsimgoCall): ProviderAnswer {
  const esim = knownEsim(call);
  const limit = wholeNumber(call, "limit", { usual: 15, most: 200 });
  const used = call.request.query.get("includeUsed") === "true";
  const assignments = esim.assignments
    .filter((one) => isShown(one, call) && (used || isUsable(one, call.account, call.request.now)))
    .slice(-limit);
  const bundles = [...Map.groupBy(assignments, ({ bundle }) => bundle)].map(([bundle, of]) => ({
    name: bundle.name,
    description: bundle.description,
    assignments: of.map((one) => assignmentRow(one, call)),
  }));
  return { status: 200, body: { bundles } };
}

/** GET /esims/{iccid}/bundles/{name}. */
export function showAssignments(call: EsimgoCall): ProviderAnswer {
  const bundle = bundleForSale(call.names[1] ?? "");
  const assignments = knownEsim(call).assignments.filter((one) => one.bundle === bundle && isShown(one, call));
  return { status: 200, body: { assignments: assignments.map((one) => assignmentRow(one, call)) } };
}

/** GET /esims/{iccid}/compatible/{bundle}. */
export function showCompatible(call: EsimgoCall): ProviderAnswer {
  const bundle = bundleForSale(call.names[1] ?? "");
  const esim = knownEsim(call);
  return { status: 200, body: { compatible: !esim.deactivated && esim.profileName === bundle.profileName } };
}

function assignmentRow(assignment: EsimgoAssignment, { account, request }: EsimgoCall) {
  const [initial, remaining] = [initialBytes(assignment), bytesLeft(assignment)];
  const { bundle, startedAt, endsAt } = assignment;
  return {
    id: assignment.id,
    callTypeGroup: "data",
    initialQuantity: initial,
    remainingQuantity: remaining,
    assignmentDateTime: new Date(assignment.at).toISOString(),
    assignmentReference: assignment.reference,
    bundleState: bundleState(assignment, account, request.now),
    ...(startedAt === null ? {} : { startTime: seconds(startedAt) }),
    ...(endsAt === null ? {} : { endTime: seconds(endsAt) }),
    unlimited: bundle.unlimited,
    allowances: bundleAllowances(bundle).map(({ amount: _, ...allowance }) => ({
      ...allowance,
      initialAmount: initial,
      remainingAmount: remaining,
      unit: "BYTES",
    })),
  };
}

/** DELETE /esims/{iccid}/bundles/{name}: the oldest one that is not started, or the one of `offerId`. */
export function revokeBundle(call: EsimgoCall): ProviderAnswer {
  const offer = call.request.query.get("offerId");
  if (offer === null && toBalance(call)) throw new EsimgoRefusal(400, "offerId is needed to refund to the balance");
  const open = openAssignments(call);
  const chosen = offer === null ? (open.find(isUnstarted) ?? open[0]) : open.find(({ id }) => id === offer);
  return revoke(call, chosen);
}

/** DELETE /esims/{iccid}/bundles/{name}/assignments/{id}. */
export function revokeAssignment(call: EsimgoCall): ProviderAnswer {
  const [, , wanted] = call.names;
  return revoke(
    call,
    openAssignments(call).find(({ id }) => id === wanted),
  );
}

function openAssignments(call: EsimgoCall): EsimgoAssignment[] {
  const bundle = bundleForSale(call.names[1] ?? "");
  const ofName = knownEsim(call).assignments.filter((one) => one.bundle === bundle && isShown(one, call));
  return ofName.filter((one) => isUsable(one, call.account, call.request.now));
}

/** Takes a bundle off, and gives it back where that is possible; with `type=validate` it only says what would be. */
function revoke(call: EsimgoCall, assignment: EsimgoAssignment | undefined): ProviderAnswer {
  const onlySay = choice(call, "type", ["transaction", "validate"]) === "validate";
  const place = toBalance(call) ? "balance" : "inventory";
  if (assignment === undefined) throw new EsimgoRefusal(400, "There is no such bundle to revoke on the eSIM");
  const { account, request } = call;
  const givenBack = isUnstarted(assignment) && isRefundable(account, assignment.stock, request.now);
  if (onlySay) {
    const outcome = givenBack ? `bundle will be refunded to ${place}` : "no refund applicable";
    return { status: 200, body: { status: `Bundle can be revoked, ${outcome}` } };
  }
  assignment.gone = "revoked";
  if (givenBack && place === "balance") repay(account, assignment.stock, 1);
  if (givenBack && place === "inventory") {
    assignment.stock.taken = assignment.stock.taken.filter((one) => one !== assignment.taking);
  }
  recordRevoke(knownEsim(call), assignment, request.now, givenBack ? place : null);
  const outcome = givenBack ? `bundle has been refunded to ${place}` : "no refund applicable";
  return { status: 200, body: { status: `Successfully Revoked Bundle, ${outcome}` } };
}

function recordRevoke(esim: EsimgoEsim, { bundle }: EsimgoAssignment, at: number, place: string | null): void {
  esim.history.push({ name: "Bundle Revoked", at, bundleName: bundle.name, bundleState: "revoked" });
  if (place === null) return;
  const name = place === "balance" ? "Bundle Refunded To Balance" : "Bundle Refunded to Inventory";
  esim.history.push({ name, at, bundleName: bundle.name });
}

function isUnstarted({ startedAt }: EsimgoAssignment): boolean {
  return startedAt === null;
}

function toBalance(call: EsimgoCall): boolean {
  return choice(call, "refundToBalance", ["false", "true"]) === "true";
}

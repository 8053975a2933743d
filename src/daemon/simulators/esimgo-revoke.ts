import type { EsimgoAssignment, EsimgoEsim } from "./esimgo-account.ts";
import { isUsable } from "./esimgo-assignments.ts";
import { choice, type EsimgoCall, EsimgoRefusal, isShown } from "./esimgo-call.ts";
import { bundleForSale } from "./esimgo-catalogue.ts";
import { knownEsim } from "./esimgo-esims.ts";
import { isRefundable, repay } from "./esimgo-inventory.ts";
import type { ProviderAnswer } from "./provider.ts";

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

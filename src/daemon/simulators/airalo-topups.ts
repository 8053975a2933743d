import { invalid, notFound, refused, success } from "./airalo-answers.ts";
import { airaloPackage } from "./airalo-catalog.ts";
import { type Fields, readFields } from "./airalo-fields.ts";
import type { AiraloMemory } from "./airalo-memory.ts";
import { madeOrder } from "./airalo-order-body.ts";
import { charge, forcedRefusal, newAllowance, recordOrder } from "./airalo-orders.ts";
import { topupList } from "./airalo-packages.ts";
import { activate } from "./airalo-usage.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

/** `POST /orders/topups`: buys more for an eSIM of this account. */
export function placeTopup(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const fields = readFields(request, ["multipart", "json"]);
  const faults = topupFaults(memory, fields);
  if (faults !== null) return faults;
  const forced = forcedRefusal(fields);
  if (forced !== null) return forced;
  const sim = memory.sims.get(fields.text("iccid") ?? "");
  const bought = airaloPackage(fields.text("package_id") ?? "", "topup");
  if (sim?.forced === "RECYCLED") return refused(73, sim.iccid);
  if (sim === undefined || bought === null || bought.offer !== sim.order.bought.offer) {
    return invalid({ package_id: "invalid topup package" });
  }
  if (request.steered?.outcome === "refuse") return refused(23);
  if (request.steered?.outcome === "busy") return refused(53);
  const short = charge(memory, bought, 1);
  if (short !== null) return short;
  const description = fields.text("description") ?? `Topup (${sim.iccid})`;
  const order = recordOrder(memory, request, { bought, units: 1, quantity: 1, description });
  order.sims.push(sim);
  const allowance = newAllowance(bought, memory.next());
  sim.allowances.push(allowance);
  // An eSIM in use uses what is added at once; one that is not waits for its first use.
  if (sim.allowances.some(({ activated_at }) => activated_at !== null)) activate(allowance, request.now);
  sim.notified.clear();
  return success(madeOrder(order));
}

/** `GET /sims/{iccid}/topups`: what tops an eSIM up. */
export function listTopups(memory: AiraloMemory, _: ProviderRequest, iccid: string): ProviderAnswer {
  const sim = memory.sims.get(iccid);
  if (sim === undefined) return notFound();
  return sim.forced === "RECYCLED" ? refused(73, iccid) : topupList(sim.order.bought);
}

function topupFaults(memory: AiraloMemory, fields: Fields): ProviderAnswer | null {
  const faults: Record<string, string> = {};
  const iccid = fields.text("iccid");
  if (iccid === null) faults.iccid = "The iccid field is required.";
  else if (!memory.sims.has(iccid)) faults.iccid = "The selected iccid is invalid.";
  if (fields.text("package_id") === null) faults.package_id = "The package id field is required.";
  return Object.keys(faults).length > 0 ? invalid(faults) : null;
}

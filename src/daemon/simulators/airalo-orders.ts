import { randomBytes, randomInt } from "node:crypto";
import { luhnDigit } from "../../core/kernel/check-digits.ts";
import { invalid, messageOnly, notFound, plainMoment, reasonOnly, refused, success } from "./airalo-answers.ts";
import { type AiraloPackage, airaloPackage, forcedRefusals } from "./airalo-catalog.ts";
import { type Fields, readFields } from "./airalo-fields.ts";
import type { AiraloAllowance, AiraloMemory, AiraloOrder, AiraloSim } from "./airalo-memory.ts";
import { madeOrder } from "./airalo-order-body.ts";
import { topupList } from "./airalo-packages.ts";
import { activate } from "./airalo-usage.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

const MOST_UNITS = 50;

/** `POST /orders`: buys eSIMs at once. */
export function placeOrder(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const fields = readFields(request, ["multipart", "json"]);
  const faults = orderFaults(fields);
  if (faults !== null) return faults;
  const forced = forcedRefusal(fields);
  if (forced !== null) return forced;
  const bought = airaloPackage(fields.text("package_id") ?? "", "sim");
  if (bought === null) return invalid({ package_id: "The selected package is invalid." });
  if (request.steered?.outcome === "refuse") return refused(33, "0");
  if (request.steered?.outcome === "busy") return refused(53);
  const quantity = fields.sent("quantity") ?? 1;
  const units = Number(quantity);
  const short = shortOfStock(memory, bought, units) ?? charge(memory, bought, units);
  if (short !== null) return short;
  const left = memory.stock.get(bought.id);
  if (left !== undefined) memory.stock.set(bought.id, left - units);
  const description = fields.text("description");
  const order = recordOrder(memory, request, { bought, units, quantity, description });
  for (let unit = 0; unit < units; unit++) {
    const sim = newSim(order, memory.next);
    order.sims.push(sim);
    memory.sims.set(sim.iccid, sim);
  }
  return success(madeOrder(order));
}

/** The refusal that the sandbox's own package asks for; null: it is another one. */
function forcedRefusal(fields: Fields): ProviderAnswer | null {
  const id = fields.text("package_id");
  const forced = Object.entries(forcedRefusals).find(([one]) => one === id);
  return forced === undefined ? null : refused(forced[1], forced[1] === 33 ? "0" : "");
}

/** Takes the cost from the balance; the refusal where it is too small. */
function charge(memory: AiraloMemory, bought: AiraloPackage, units: number): ProviderAnswer | null {
  const cost = bought.net * units;
  if (cost > memory.balance) return refused(11, `${(memory.balance / 100).toFixed(2)} USD available.`);
  memory.balance -= cost;
  return null;
}

/** Keeps an order. One that is steered to wait is in no list before its time. */
function recordOrder(
  memory: AiraloMemory,
  { now, steered }: ProviderRequest,
  given: Pick<AiraloOrder, "bought" | "units" | "quantity" | "description">,
): AiraloOrder {
  const wait = steered?.outcome === "wait" ? steered.delay_ms : 0;
  const order = { ...given, id: memory.next(), created_at: now, listed_at: now + wait, sims: [] };
  memory.orders.push(order);
  return order;
}

/** A package as an eSIM gets it, not in use yet. */
function newAllowance(bought: AiraloPackage, id: number): AiraloAllowance {
  return { id, bought, used: 0, activated_at: null, expires_at: null, finished_at: null };
}

/**
 * `POST /orders-async`: its result comes by a webhook alone, and none is sent here beside what a phone causes. Without
 * an address the protocol refuses it in a form of its own.
 */
export function placeOrderLater(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const fields = readFields(request, ["multipart", "json"]);
  const faults = orderFaults(fields);
  if (faults !== null) return faults;
  if (fields.text("webhook_url") === null && !memory.contacts.has("async_orders")) {
    return reasonOnly("User is not opted in and no webhook URL provided.");
  }
  return reasonOnly("Asynchronous orders are not simulated.");
}

function orderFaults(fields: Fields): ProviderAnswer | null {
  const faults: Record<string, string> = {};
  if (fields.text("package_id") === null) faults.package_id = "The package id field is required.";
  const quantity = fields.text("quantity");
  if (quantity === null) faults.quantity = "The quantity field is required.";
  else if (!/^-?\d+$/.test(quantity)) faults.quantity = "The quantity must be an integer.";
  else if (Number(quantity) < 1) faults.quantity = "The quantity must be at least 1.";
  else if (Number(quantity) > MOST_UNITS) faults.quantity = `The quantity may not be greater than ${MOST_UNITS}.`;
  if ((fields.text("type") ?? "sim") !== "sim") faults.type = "The selected type is invalid.";
  if (fields.text("brand_settings_name") !== null) faults.brand_settings_name = "Brand settings name doesn't exist.";
  const options = fields.list("sharing_option") ?? [];
  if (options.some((one) => one !== "link" && one !== "pdf")) {
    faults.sharing_option = "The selected sharing option is invalid.";
  }
  if (fields.text("to_email") !== null && options.length === 0) {
    faults.sharing_option = "The sharing option field is required when to email is present.";
  }
  return Object.keys(faults).length > 0 ? invalid(faults) : null;
}

function shortOfStock({ stock }: AiraloMemory, { id }: AiraloPackage, units: number): ProviderAnswer | null {
  const left = stock.get(id) ?? units;
  if (left === 0) return refused(34);
  if (units <= left) return null;
  return invalid({ quantity: `SIM quantity is not available. Available quantity: ${left}.` });
}

function newSim(order: AiraloOrder, next: AiraloMemory["next"]): AiraloSim {
  const id = next();
  const digits = `89444650${String(id).padStart(10, "0").slice(-10)}`;
  return {
    id,
    created_at: order.created_at,
    iccid: digits + luhnDigit(digits),
    matching_id: randomBytes(10).toString("hex").toUpperCase().match(/.{5}/g)?.join("-") ?? "",
    confirmation_code: order.bought.offer.confirms ? String(randomInt(1000, 10_000)) : null,
    order,
    allowances: [newAllowance(order.bought, next())],
    forced: null,
    recycled_at: null,
    notified: new Set(),
  };
}

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

const reasons = [
  ...["INSTALLATION_FAILURE", "NO_COVERAGE", "APN_FAILURE", "TRIP_CANCELLATION", "INTERMITTENT_CONNECTION"],
  ...["BLOCKED_NETWORK", "CHANGE_OF_PLAN", "DELETED_ESIM", "EARLY_EXPIRY", "HOTSPOT_NOT_WORKING", "IMSI_CHANGE"],
  ...["INCOMPATIBLE_DEVICE", "LOCKED_DEVICE", "NO_VOICE_TEXT_SERVICES", "OVERCHARGED", "SLOW_SPEED"],
  ...["TOP_UP_PACKAGE_FAILURE", "UNKNOWN_CHARGES", "WRONG_PURCHASE", "UNABLE_TO_ACCESS_APPS"],
  ...["SERVICE_DEGRADATION", "QR_ISSUE_PARTNERS", "OTHERS"],
];

const MOST_ICCIDS = 5;
const LONGEST_NOTES = 255;

/** `POST /refund`: asks for a refund, which people decide on later; no money moves. */
export function requestRefund(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const fields = readFields(request, ["multipart"]);
  const iccids = fields.list("iccids");
  if (iccids === null) return messageOnly(422, "The iccids field is required.");
  if (iccids.length > MOST_ICCIDS) return messageOnly(422, `The iccids may not have more than ${MOST_ICCIDS} items.`);
  const reason = fields.text("reason");
  if (reason === null) return messageOnly(422, "The reason field is required.");
  if (!reasons.includes(reason)) {
    const listed = reasons.join(", ");
    return invalid({ reason: `The selected reason is invalid. It must be one of the following: ${listed}` });
  }
  const notes = fields.text("notes");
  if (reason === "OTHERS" && notes === null) {
    return invalid({ notes: "The notes field is required when reason is OTHERS." });
  }
  if ([...(notes ?? "")].length > LONGEST_NOTES) {
    return invalid({ notes: `The notes may not be greater than ${LONGEST_NOTES} characters.` });
  }
  if (!/^[^@\s]+@[^@\s]+$/.test(fields.text("email") ?? "a@b")) {
    return invalid({ email: "The email must be a valid email address." });
  }
  const unknown = iccids.filter((iccid) => !memory.sims.has(iccid));
  // The one refusal that is published for a request in order.
  const strangers = request.steered?.outcome === "refuse" ? iccids : unknown;
  if (strangers.length > 0) {
    return messageOnly(422, `The following ICCIDs do not belong to your company: ${strangers.join(", ")}`);
  }
  if (request.steered?.outcome === "busy") return refused(53);
  const created_at = plainMoment(request.now).slice(0, -3);
  return success({ refund_id: String(memory.next()), created_at }, 202);
}

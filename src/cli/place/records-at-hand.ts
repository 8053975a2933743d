import type { ActivationRow } from "../../core/activations/activation.ts";
import type { EsimRow } from "../../core/esims/esim.ts";
import type { HandWork } from "../../core/find/named-activations.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { notFound, Problem } from "../../core/kernel/problem.ts";
import type { OrderRow } from "../../core/orders/order.ts";
import type { Store } from "../../core/store/store.ts";
import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { whose } from "./whose.ts";

/** Candidates that a message lists; the rest is counted. */
const LISTED = 10;

/** The order that an identifier names on local data. Throws `not_found`; a usage error that lists several. */
export async function orderAtHand(store: Store, given: string, owner?: Owner): Promise<OrderRow> {
  const { namedOrders } = await import("../../core/find/named-orders.ts");
  const orders = await store.read(namedOrders, { given, owner });
  return only(orders, given, { none: noOrder(given), words: (order) => orderWords(store, order) });
}

function noOrder(given: string): CliError {
  const hint =
    "Give an order's number or id, its booking number, or the ICCID of one of its eSIMs: esimctl orders list";
  return new CliError("not_found", `No order here goes by ${given.trim()}.`, hint);
}

async function orderWords(store: Store, order: OrderRow): Promise<string> {
  return `${order.order_number} (${await whose(store, order)}, ${order.status})`;
}

/** The physical-SIM request that an identifier names on local data. Throws as `orderAtHand` does. */
export async function activationAtHand(store: Store, given: string, owner?: Owner): Promise<ActivationRow> {
  const { namedActivations } = await import("../../core/find/named-activations.ts");
  const requests = await store.read(namedActivations, { given, owner });
  return only(requests, given, { none: notFound("activation", given), words: (row) => requestWords(store, row) });
}

async function requestWords(store: Store, row: ActivationRow): Promise<string> {
  return `${row.id} (${await whose(store, row)}, ${row.activation_date}, ${row.status})`;
}

/** The request or order item that staff work by hand. Throws as `orderAtHand` does. */
export async function handWorkAtHand(store: Store, given: string): Promise<HandWork> {
  const { namedHandWork } = await import("../../core/find/named-activations.ts");
  const none = new Problem("not_found", "No activation and no order item goes by this identifier.");
  const words = async (work: HandWork) => {
    if (work.kind === "activation") return requestWords(store, work.row);
    const { traveler } = work;
    const { id, status } = work.row;
    const who = traveler === null ? "" : `${traveler.customer_name}, ${traveler.activation_date}, `;
    return `${id} (${work.order.order_number}, ${who}${status})`;
  };
  return only(await store.read(namedHandWork, given), given, { none, words });
}

/** The sold eSIM that an identifier names on local data. Throws as `orderAtHand` does. */
export async function esimAtHand(store: Store, given: string, owner?: Owner): Promise<EsimRow> {
  const { namedEsims } = await import("../../core/find/named-esims.ts");
  const words = async (esim: EsimRow) => {
    const { environment } = esim;
    const owned = environment === null ? "" : `${await whose(store, { ...esim, environment })}, `;
    return `${esim.iccid} (${owned}${esim.status})`;
  };
  const goes = /^\d+$/.test(given.trim()) ? "has ICCID" : "goes by";
  const none = new Problem("not_found", `No delivered eSIM ${goes} ${given.trim()}.`, {
    members: { resource: "esim" },
  });
  return only(await store.read(namedEsims, { given, owner }), given, { none, words });
}

/**
 * The one record that an identifier names. Throws `none` where there is none, and where there are several a usage error
 * (code `ambiguous`, exit code 2) that lists them. `atLeast`: the rows are the first ones of more.
 */
export async function only<T>(
  rows: readonly T[],
  given: string,
  { none, words, atLeast = false }: { none: Error; words(row: T): string | Promise<string>; atLeast?: boolean },
): Promise<T> {
  const [first] = rows;
  if (first === undefined) throw none;
  if (rows.length === 1) return first;
  const listed: string[] = [];
  for (const row of rows.slice(0, LISTED)) listed.push(await words(row));
  const more = rows.length > LISTED ? `, and ${atLeast ? "others" : `${rows.length - LISTED} more`}` : "";
  const many = `${atLeast ? "more than " : ""}${rows.length}`;
  const message = `${given.trim()} names ${many} records: ${listed.join(", ")}${more}.`;
  throw new CliError(
    "ambiguous",
    message,
    "Name one of them by the identifier that its entry begins with.",
    exitCodes.usage,
  );
}

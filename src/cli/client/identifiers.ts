import { isUuid } from "../../core/kernel/is-uuid.ts";
import { CliError, usageError } from "../kernel/errors.ts";
import { activationAtHand, esimAtHand, only, orderAtHand } from "../place/records-at-hand.ts";
import type { Activation, EsimStatus, Order, OrderEsims, PageBody } from "./answers.ts";
import { type Api, apiPath, type OwnerOf } from "./api.ts";

/** ORD-<day of creation in UTC>-<5 letters and digits>. */
const NUMBER = /^ORD-(\d{4})(\d\d)(\d\d)-[A-Z0-9]{5}$/;

/** Whether the text looks like the ICCID of a SIM card or an eSIM. */
export const ICCID = /^\d{13,20}$/;
const ESIM_ICCID = /^\d{19,20}$/;

/** Requests that the search for one number may take at a server: 10,000 orders. */
const PAGES = 100;

/** Finds the owner of the order that an identifier names. */
export function ownerOfOrder(given: string): OwnerOf {
  return (store) => orderAtHand(store, given);
}

/** Finds the owner of the physical-SIM request that an identifier names. */
export function ownerOfActivation(given: string): OwnerOf {
  return (store) => activationAtHand(store, given);
}

/** Finds the owner of the eSIM that an identifier names. */
export function ownerOfEsim(given: string): OwnerOf {
  return async (store) => {
    const { partner_id, environment } = await esimAtHand(store, given);
    if (partner_id === null || environment === null) throw new Error("a sold eSIM without its owner");
    return { partner_id, environment };
  };
}

/**
 * The id of the caller's order that `given` names: its id or number, the booking number, or the ICCID of one of its
 * eSIMs. Throws `not_found`; a usage error that lists several.
 */
export async function orderId(api: Api, given: string): Promise<string> {
  const word = given.trim();
  if (word === "") throw usageError("An order is needed.", "Give its number, id or booking number.");
  // An id is left to the API, which answers for it.
  if (isUuid(word) && api.local === undefined) return word;
  if (api.local !== undefined) return (await orderAtHand(api.local.store, word, api.local)).id;
  const number = word.toUpperCase();
  const day = NUMBER.exec(number)?.slice(1).join("-");
  if (day !== undefined) return (await listedId(api, number, day)) ?? noOrder(word, OLD);
  const ofEsim = ESIM_ICCID.test(word) ? await orderOfEsim(api, word) : [];
  const ids = [...new Set([...ofEsim, ...(await bookedAs(api, word))])];
  return only(ids, word, { none: noOrderOf(word), words: (id) => id });
}

const OLD = "See esimctl orders list; its ids are found however old they are.";

function noOrder(word: string, hint: string): never {
  throw new CliError("not_found", `No order here has the number ${word.toUpperCase()}.`, hint);
}

function noOrderOf(word: string): CliError {
  const hint =
    "Give an order's number or id, its booking number, or the ICCID of one of its eSIMs: esimctl orders list";
  return new CliError("not_found", `No order here goes by ${word}.`, hint);
}

async function orderOfEsim(api: Api, iccid: string): Promise<string[]> {
  try {
    return [(await api.request<EsimStatus>("GET", apiPath`/esims/${iccid}/status`)).body.order_id];
  } catch (error) {
    if (error instanceof CliError && (error.code === "not_found" || error.code === "esim_forbidden")) return [];
    throw error;
  }
}

async function bookedAs(api: Api, external_order_id: string): Promise<string[]> {
  const query = { external_order_id, limit: 2 };
  const { body } = await api.request<PageBody<Order>>("GET", apiPath`/orders`, { query });
  return body.data.filter((order) => order.external_order_id === external_order_id).map(({ id }) => id);
}

/** The API has no look-up by number: its list is read, newest first, down to the day that the number names. */
async function listedId(api: Api, number: string, day: string): Promise<string | null> {
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES; pages++) {
    const asked = { query: { limit: 100, cursor } };
    const { body } = await api.request<PageBody<Order>>("GET", apiPath`/orders`, asked);
    const found = body.data.find(({ order_number }) => order_number === number);
    if (found !== undefined) return found.id;
    const oldest = body.data.at(-1)?.created_at.slice(0, 10) ?? "";
    if (body.pagination.next_cursor === null || oldest < day) return null;
    cursor = body.pagination.next_cursor;
  }
  return null;
}

/**
 * The id of the caller's physical-SIM request that `given` names: its id, or an ICCID, of which it is the newest, ended
 * or not. Throws `not_found`.
 */
export async function activationId(api: Api, given: string): Promise<string> {
  const word = given.trim();
  if (api.local !== undefined) return (await activationAtHand(api.local.store, word, api.local)).id;
  if (!ICCID.test(word)) return word;
  const query = { iccid: word, limit: 1 };
  const { body } = await api.request<PageBody<Activation>>("GET", apiPath`/activations`, { query });
  const [newest] = body.data;
  if (newest !== undefined) return newest.id;
  throw new CliError("not_found", `No activation: ${word}.`, "See esimctl activations list.");
}

/**
 * The ICCID of the caller's eSIM that `given` names: itself, or what names the order whose only eSIM it is. Throws
 * `not_found`; a usage error that lists several.
 */
export async function esimIccid(api: Api, given: string): Promise<string> {
  const word = given.trim();
  // The API answers for digits, also for those that are no ICCID.
  if (/^\d+$/.test(word)) return word;
  if (api.local !== undefined) return (await esimAtHand(api.local.store, word, api.local)).iccid;
  const id = await orderId(api, word);
  // Some of a large order are enough to see that it has several.
  const { body } = await api.request<OrderEsims>("GET", apiPath`/orders/${id}/esims`, { query: { limit: 100 } });
  const none = new CliError("not_found", `The order ${word} has no eSIMs.`, `See esimctl orders show ${word}.`);
  const words = ({ iccid, status }: OrderEsims["esims"][number]) => `${iccid} (${status})`;
  const atLeast = body.pagination?.has_more === true;
  return (await only(body.esims, word, { none, words, atLeast })).iccid;
}

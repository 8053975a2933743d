import { randomUUID } from "node:crypto";
import { type EsimgoAccount, type EsimgoOrder, STARTING_BALANCE } from "./esimgo-account.ts";
import { type EsimgoCall, EsimgoRefusal, isShown, pageOf, wholeNumber } from "./esimgo-call.ts";
import { orderRow, recordOrder } from "./esimgo-orders.ts";
import type { ProviderAnswer } from "./provider.ts";

/** GET /orders: newest first; beside purchases what was assigned from the inventory, and top-ups of the balance. */
export function listOrders(call: EsimgoCall): ProviderAnswer {
  const { account, request } = call;
  const page = wholeNumber(call, "page", { usual: 1, most: 1_000_000 });
  const size = wholeNumber(call, "limit", { usual: 10, most: 200 });
  const includeIccids = request.query.get("includeIccids") === "true";
  const windows = request.query.getAll("createdAt").map(readWindow);
  const rows = account.orders
    .filter((one) => isShown(one, call) && windows.every((within) => within(one)))
    .toReversed()
    .map((one) => orderRow(one, includeIccids));
  const { page: orders, counts } = pageOf(rows, page, size);
  return { status: 200, body: account.options.orders === "envelope" ? { orders, ...counts } : orders };
}

/** GET /orders/{orderReference}. */
export function showOrder(call: EsimgoCall): ProviderAnswer {
  const [reference = ""] = call.names;
  const found = call.account.orders.find((one) => one.reference === reference && isShown(one, call));
  if (found === undefined) throw new EsimgoRefusal(400, `There is no order ${reference}`);
  return { status: 200, body: orderRow(found, true) };
}

/** The top-up that the account begins with: a row of GET /orders that is no purchase. */
export function recordFirstTopup(account: EsimgoAccount, now: number): void {
  const total = STARTING_BALANCE;
  const line = { type: "topup" as const, item: "", quantity: 1, pricePerUnit: total, allowReassign: false, esims: [] };
  const fields = { reference: randomUUID(), lines: [line], total, statusMessage: "Topup completed", assigned: false };
  recordOrder(account, fields, { at: now, shownAt: now });
}

/** `gte:2026-03-01T00:00:00Z`. Throws a refusal (400) where it is not understood. */
function readWindow(text: string): (order: EsimgoOrder) => boolean {
  const [, comparison, time = ""] = /^(gte|lte|gt|lt):(\d{4}-\d\d-\d\dT.+(?:Z|[+-]\d\d:\d\d))$/.exec(text) ?? [];
  const edge = Date.parse(time);
  if (Number.isNaN(edge)) throw new EsimgoRefusal(400, "Invalid value for parameter createdAt");
  if (comparison === "gte") return ({ at }) => at >= edge;
  if (comparison === "lte") return ({ at }) => at <= edge;
  return comparison === "gt" ? ({ at }) => at > edge : ({ at }) => at < edge;
}

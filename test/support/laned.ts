import { updateCredential } from "../../src/core/credentials/update.ts";
import { addRequestCounts } from "../../src/core/insight/rates.ts";
import { addRefusedRequests } from "../../src/core/insight/refusals.ts";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { environments } from "../../src/core/kernel/environment.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { createOrder, type NewOrder } from "../../src/core/orders/create.ts";
import { claimOrders, fulfillLeased, waitingOrders } from "../../src/core/orders/due.ts";
import { updatePartner } from "../../src/core/partners/update.ts";
import type { LaneKind } from "../../src/core/store/schema/lanes.ts";
import type { Command, Store } from "../../src/core/store/store.ts";
import { createWebhook } from "../../src/core/webhooks/create.ts";
import { type ClaimedDelivery, dueEndpoints, recordAndClaim, releaseDeliveries } from "../../src/core/webhooks/due.ts";
import { applyOutcomes, type Outcome } from "../../src/core/webhooks/outcome.ts";
import { addProducts, addStock, suppliedProducts } from "./catalog.ts";
import { addOrderer, orderOf } from "./lanes.ts";
import { type Touched, trace } from "./traced.ts";

const actor = "operator (test)";
const traveler = {
  customer_email: "ada@example.net",
  customer_name: "Ada Byron",
  customer_phone: null,
  activation_date: "2099-01-01",
  timezone: "Australia/Sydney",
  eid_number: null,
  selected_plan_id: null,
};

/** Orders that take every way through `createOrder`, in their order. */
async function everyOrder(store: Store): Promise<NewOrder[]> {
  const buyer = await addOrderer(store, "buyer", 10_000);
  const { partnerId, credential: clientId } = buyer;
  const ids = await addProducts(store, [
    { sku: "EU", price_cents: 100 },
    { sku: "US", price_cents: 100 },
    { sku: "CARD", price_cents: 100, product_type: "physical_sim", delivery_method: "shipping" },
    ...suppliedProducts,
  ]);
  for (const sku of ["EU", "US"]) await addStock(store, sku, 40);
  const thresholds = { lowWallet: { currency: "AUD", cents: 9_000 } };
  const creditLine = { currency: "AUD", cents: 1_000_000 };
  await store.write(updatePartner, { slug: "buyer", thresholds, creditLine, actor });
  await store.write(updateCredential, { clientId, currency: "AUD", perDay: "90000.00", actor });
  const hook = { url: "https://hooks.example.net/", events: ["*" as const], actor };
  for (const environment of environments) {
    await store.write(createWebhook, { ...hook, owner: { partnerId, environment } });
  }
  const line = (sku: string, quantity = 1) => ({ product_id: ids[sku] ?? "", quantity });
  const customer = { email: "ada@example.net", name: "Ada Byron", phone: "+61400000000" };
  const order = (sku: string, quantity?: number) => orderOf(buyer, ids[sku], quantity);
  const first = order("EU");
  const asked = [
    first,
    first,
    { ...order("EU"), lines: [line("EU"), line("US", 2), line("CARD")] },
    { ...order("EU", 20), key: { space: "bulk" as const, value: "B-1" }, customer },
    order("API"),
    { ...order("MAIL"), activationRequests: [{ ...traveler, product_id: ids.MAIL ?? "" }] },
    { ...order("CARD"), credential: null, actor },
    order("EU", 1_000),
    // Beyond what the wallet holds: on credit.
    { ...order("CARD", 85) },
    { ...order("none") },
  ];
  const scenario = { ...order("MAIL"), activationRequests: [{ ...traveler, product_id: ids.MAIL ?? "" }] };
  const sandboxed = [
    ...asked,
    { ...scenario, scenario: "supplier_timeout" as const },
    { ...first, key: { space: "single" as const, value: "short" }, scenario: "stock_short" as const },
  ];
  return [...asked, ...sandboxed.map((one) => ({ ...one, environment: "sandbox" as const }))];
}

/** What a command in a kind of lane touched. */
export interface LanedRun {
  name: string;
  kind: LaneKind;
  touched: Touched;
}

type Run = <I, O>(command: Command<I, O>, input: I) => Promise<O | null>;

/** Runs commands, and keeps what those with a lane touched. */
function tracing(store: Store): { run: Run; runs: LanedRun[] } {
  const runs: LanedRun[] = [];
  return {
    runs,
    async run(command, input) {
      const kind = command.lane?.(input)?.kind;
      const touched = { read: new Set(), written: new Set(), changed: new Set(), locked: new Set() } as Touched;
      if (kind !== undefined) runs.push({ name: command.name, kind, touched });
      return trace(store, command, input, touched);
    },
  };
}

/** What `runLaned` runs. */
export const lanedNames: readonly string[] = [
  createOrder,
  claimOrders,
  fulfillLeased,
  recordAndClaim,
  applyOutcomes,
  releaseDeliveries,
  addRequestCounts,
  addRefusedRequests,
].map(({ name }) => name);

/** Runs every command that has a lane in all of its ways; what each run touched. */
export async function runLaned(store: Store): Promise<LanedRun[]> {
  const { run, runs } = tracing(store);
  for (const order of await everyOrder(store)) await run(createOrder, order);
  // One of the orders that were short is reserved by the worker.
  await addStock(store, "EU", 1_000);
  await addStock(store, "US", 1);
  await fulfillAll(store, run);
  await sendAll(store, run);
  await run(addRequestCounts, [{ minute: 1, requests: 2, failed: 1 }]);
  await run(addRefusedRequests, refusedOf(201));
  return runs;
}

/** More refused requests of a partner than are kept. */
function refusedOf(count: number) {
  const ids = randomIds();
  const owner = { partner_id: ids.uuid(0) as PartnerId, environment: "sandbox" as const, client_id: "one" };
  const request = { method: "GET", route: "/api/v1/orders", status: 404, problem: "not_found", request_id: "one" };
  const id = () => ids.uuid(Date.parse("2030-01-01"));
  return Array.from({ length: count }, () => ({ ...owner, ...request, id: id(), at: 0 }));
}

async function fulfillAll(store: Store, run: Run): Promise<void> {
  const { due } = await store.read(waitingOrders, null);
  for (const queue of due) {
    for (const lease of (await run(claimOrders, { ...queue, room: 100 })) ?? []) {
      while ((await run(fulfillLeased, lease)) === "more");
    }
  }
}

/** What an attempt of a claimed delivery came to. */
export function outcomeOf({ lease, endpoint, event, attempts }: ClaimedDelivery, statusCode: number | null): Outcome {
  const about = { id: lease.id, endpointId: endpoint.id, event: event.kind, eventId: event.id, leaseNo: lease.no };
  return {
    ...about,
    attempts,
    at: 0,
    statusCode,
    latencyMs: 3,
    error: null,
    body: `answered ${statusCode}`,
    cut: false,
  };
}

async function sendAll(store: Store, run: Run): Promise<void> {
  const { due } = await store.read(dueEndpoints, { full: new Set<string>(), limit: 10 });
  const rooms = due.map(({ id: endpointId }) => ({ endpointId, room: 4 }));
  const claimed = (await run(recordAndClaim, { outcomes: [], rooms })) ?? [];
  const [arrived, failed, late, left, ...rest] = claimed;
  if (!(arrived && failed && late && left)) throw new Error("too little is due");
  const lost = { ...outcomeOf(late, 200), leaseNo: 0 };
  await run(recordAndClaim, { outcomes: [outcomeOf(arrived, 200), outcomeOf(failed, 503), lost], rooms });
  await run(releaseDeliveries, [{ lease: left.lease, endpointId: left.endpoint.id }]);
  await run(
    applyOutcomes,
    rest.map((one) => outcomeOf(one, 200)),
  );
}

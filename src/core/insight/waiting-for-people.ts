import { count, gt, min, sql } from "drizzle-orm";
import { type WaitingColumns, waitingOfActivations } from "../activations/waiting-of-activations.ts";
import type { Waiting } from "../kernel/waiting.ts";
import { heldOrders } from "../orders/queue.ts";
import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import type { Queue } from "./queues.ts";

/** How many orders, requests or passports wait for the same act of the same person. */
export interface WaitingFor extends Waiting {
  waiting: number;
}

const idle = sql<number>`case when due_at is null and deadline_at is null then 1 else 0 end`.mapWith(Number);

const inQueue = statement((db, t, _slot) =>
  db
    .select({
      status: t.activations.status,
      processing_status: t.activations.processing_status,
      carrier_prefix: t.activations.carrier_prefix,
      idle,
      waiting: count(),
      queued_at: min(t.activations.queued_at),
      updated_at: min(t.activations.updated_at),
    })
    .from(t.activations)
    .where(gt(t.activations.queued_at, 0))
    .groupBy(t.activations.status, t.activations.processing_status, t.activations.carrier_prefix, idle),
);

const PAGE = 200;

/**
 * What waits for people, of all partners, by what ends it: as lists and `show` say it of each. `queues` are those of
 * the same snapshot. The longest waiting first.
 */
export async function waitingForPeople(q: Read, queues: readonly Queue[]): Promise<WaitingFor[]> {
  const sums = new Map<string, WaitingFor>();
  const add = (one: Waiting | null, waiting: number) => {
    if (one === null || waiting === 0) return;
    const key = `${one.for} ${one.act} ${one.on}`;
    const known = sums.get(key) ?? { ...one, waiting: 0 };
    const since = known.since < one.since ? known.since : one.since;
    sums.set(key, { ...known, since, waiting: known.waiting + waiting });
  };
  for (const one of await waitingOrders(q)) add(one, 1);
  for (const [queue, act, on] of [
    ["orders_to_ship", "ship", "shipping"],
    ["passports_unverified", "verify", "passport"],
    ["funding_requests", "credit", "payment"],
    ["products_held", "update", "margin"],
  ] as const) {
    const found = queues.find((one) => one.queue === queue);
    if (found?.oldest_at) add({ for: "operator", act, on, since: found.oldest_at }, found.waiting);
  }
  const waitingOf = await waitingOfActivations(q);
  for (const group of await inQueue(q, {})) add(waitingOf(columnsOf(group)), group.waiting);
  return [...sums.values()].sort((a, b) => (a.since < b.since ? -1 : 1));
}

async function waitingOrders(q: Read): Promise<Waiting[]> {
  const found: Waiting[] = [];
  let after: Awaited<ReturnType<typeof heldOrders>>["next"] | undefined;
  while (after !== null) {
    const { data, next } = await heldOrders(q, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    // SIM cards of a held order are counted with all that are to be shipped.
    found.push(...data.flatMap(({ waiting }) => (waiting === null || waiting.on === "shipping" ? [] : [waiting])));
    after = next;
  }
  return found;
}

type Group = Awaited<ReturnType<typeof inQueue>>[number];

function columnsOf({ idle: isIdle, updated_at, ...group }: Group): WaitingColumns {
  const at = isIdle === 1 ? null : 0;
  return { ...group, updated_at: updated_at ?? 0, due_at: at, deadline_at: at };
}

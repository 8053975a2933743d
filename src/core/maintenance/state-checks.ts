import { and, count, eq, lte, min, sql } from "drizzle-orm";
import { carrierRows } from "../carriers/carrier.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import { counted } from "../kernel/counted.ts";
import { isCleartext } from "../kernel/http-url.ts";
import { heldUpMs } from "../platform/blocked-writes.ts";
import { CLOCK_TOLERANCE_MS, clockAhead, isClockOff } from "../platform/clock-difference.ts";
import { currentOutages } from "../platform/outages.ts";
import { currentPauses } from "../platform/pauses.ts";
import { type ServingNode, servingState, withoutDaemon } from "../platform/serving.ts";
import { readSetting } from "../platform/settings.ts";
import type { Reading } from "../store/open/reading.ts";
import type { Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { listSuppliers } from "../suppliers/supplier.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";
import { checkClock } from "./machine-checks.ts";

/**
 * The checks of how it goes at this moment. Each reads little, however much the database holds, so that a daemon can
 * make them amid its requests. `isLocked`: a daemon may have the lock of the data directory.
 */
export async function checkState(
  reading: Pick<Reading, "read" | "ping">,
  { isLocked, clock }: { isLocked: boolean; clock: Clock },
): Promise<Finding[]> {
  return [
    ...(await reading.read(checkWork, null)),
    ...(await reading.read(checkOutages, null)),
    ...(await reading.read(checkPauses, null)),
    ...(await checkServer(reading, clock)),
    await reading.read(checkServing, { isLocked }),
    ...(await reading.read(checkNodeClocks, null)),
    ...(await reading.read(checkReplicas, null)),
    ...(await reading.read(checkTransport, null)),
    await reading.read(checkClock, null),
  ];
}

/** Workers look every second, the longest lease is two minutes: what is due this long (ms) has no worker. */
const STUCK_AFTER_MS = 10 * 60_000;

type Before = Slots<{ before: number }>;

/** Due since long. What a worker holds is due when its lease ends. */
function stuck(table: Tables["orders"] | Tables["orderItems"] | Tables["activations"], slot: Before) {
  return lte(table.due_at, slot.before);
}

const orders = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.orders.due_at) })
    .from(t.orders)
    .where(stuck(t.orders, slot)),
);

const items = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.orderItems.due_at) })
    .from(t.orderItems)
    .where(stuck(t.orderItems, slot)),
);

const activations = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.activations.due_at) })
    .from(t.activations)
    .where(stuck(t.activations, slot)),
);

const deliveries = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.deliveries.due_at) })
    .from(t.webhookEndpoints)
    .innerJoin(t.deliveries, eq(t.deliveries.endpoint_id, t.webhookEndpoints.id))
    .where(
      and(
        lte(t.webhookEndpoints.due_at, slot.before),
        eq(t.webhookEndpoints.status, "active"),
        // Must match the partial index predicate exactly.
        sql`${t.deliveries.status} = 'pending'`,
        lte(t.deliveries.due_at, slot.before),
      ),
    ),
);

const queues = [
  ["order", orders],
  ["order item", items],
  ["activation", activations],
  ["webhook delivery", deliveries, "webhook deliveries"],
] as const;

/** Whether anything that a worker should do by itself has been left lying, its lease run out long ago. */
async function checkWork(q: Read): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [one, query, many] of queues) {
    const row = first(await query(q, { before: q.now - STUCK_AFTER_MS }));
    if (row === null || row.many === 0) continue;
    const have = row.many === 1 ? "has" : "have";
    const since = isoTime(row.since ?? 0);
    const message = `${counted(row.many, one, many)} ${have} been due since ${since}, and no worker has taken it.`;
    found.push(warning("stuck_work", message, "See that esimctl serve runs, and look for errors in its log."));
  }
  return found.length > 0 ? found : [fine("stuck_work", "Nothing is stuck: what was due has been taken up.")];
}

/** Nodes whose clock is off. */
export async function checkNodeClocks(q: Read): Promise<Finding[]> {
  const { nodes } = await servingState(q);
  return nodes.filter(({ clock_ahead_ms: ahead }) => isClockOff(ahead)).map(clockOff);
}

/** Nodes whose replica answers no reads. */
async function checkReplicas(q: Read): Promise<Finding[]> {
  const { nodes } = await servingState(q);
  return nodes.flatMap(({ url, state, replica }) => {
    if (state !== "serving" || replica === null || replica.state === "used") return [];
    const words = `The replica of the node at ${url} ${REPLICA_WORDS[replica.state]}: its reads go to the primary.`;
    return [warning("replica", words, "Check the server that serve --read-database names, and its replication.")];
  });
}

const REPLICA_WORDS = {
  behind: "is too far behind",
  away: "is away",
  foreign: "is no hot standby of this database",
} as const;

function clockOff({ url, clock_ahead_ms }: ServingNode): Finding {
  if (clock_ahead_ms === null) {
    const message = `The node at ${url} could not compare its clock with the database's yet: it takes no work.`;
    return fault("node_clock", message, "Check the network between them, and the load of the server.");
  }
  const difference = `${differenceWords(clock_ahead_ms)} the database's`;
  return fault(
    "node_clock",
    `The clock of the node at ${url} is ${difference}: it takes no work.`,
    "Set it, and keep it right with NTP.",
  );
}

/**
 * Whether a daemon serves, and since when. One that was never served is not at fault. `isLocked`: a daemon may have the
 * lock of the data directory.
 */
export async function checkServing(q: Read, { isLocked }: { isLocked: boolean }): Promise<Finding> {
  const recorded = await servingState(q);
  const { serving, since, nodes } = isLocked ? recorded : withoutDaemon(recorded);
  if (since === null) return fine("serving", "It was not served yet.");
  const live = nodes.filter(({ state }) => state === "serving");
  if (serving) return fine("serving", `It is served since ${since} at ${live.map(({ url }) => url).join(", ")}.`);
  const lost = nodes.some(({ state }) => state === "lost");
  const words = lost
    ? `Nothing serves it: the daemon ended without a stop after ${since}.`
    : `It was stopped at ${since}.`;
  return warning("serving", words, "Start it: esimctl serve. Orders, activations and webhooks wait meanwhile.");
}

/** Suppliers and carriers with whom the last exchange failed. */
export async function checkOutages(q: Read): Promise<Finding[]> {
  const outages = await currentOutages(q);
  if (outages.length === 0) return [fine("outages", "No supplier and no carrier fails.")];
  return outages.map(({ kind, name, since, failures, last_error, next_attempt_at }) => {
    const next = next_attempt_at === null ? "nothing is retried by itself" : `next attempt at ${next_attempt_at}`;
    const words = `The ${kind} ${name} fails since ${since} (${failures} in a row): ${last_error}; ${next}.`;
    return warning("outages", words, remedyOf(kind));
  });
}

/** What new orders are refused for. */
async function checkPauses(q: Read): Promise<Finding[]> {
  const pauses = await currentPauses(q);
  if (pauses.length === 0) return [fine("paused", "New orders are accepted.")];
  return pauses.map(({ kind, name, reason, since }) => {
    const all = kind === "orders";
    const words = `${all ? "New orders" : `New orders of the supplier ${name}`} are paused since ${since}: ${reason}.`;
    return warning("paused", words, `End it: esimctl ${all ? "orders resume" : `suppliers resume ${name}`}.`);
  });
}

function remedyOf(kind: "supplier" | "carrier"): string {
  const retry = kind === "supplier" ? "esimctl orders retry ID" : "esimctl activations retry ID";
  return `Check it with esimctl ${kind}s list and change it with ${kind}s set; then ${retry} sends what waits at once.`;
}

interface Reached {
  what: string;
  url: string | null;
  insecure: boolean;
  command: string;
}

/** Where identity data and tokens would travel without TLS: carriers, suppliers, and how the platform is served. */
async function checkTransport(q: Read): Promise<Finding[]> {
  const found = [
    ...(await parties(q)).flatMap(ofParty),
    ...((await readSetting(q, "insecure")) === "yes" ? [servedInsecure] : []),
    ...((await readSetting(q, "cleartext")) === "yes" ? [servedInClear] : []),
  ];
  return found.length > 0 ? found : [fine("transport", "Nothing is sent beyond this machine without TLS.")];
}

async function parties(q: Read): Promise<Reached[]> {
  const carriers = (await carrierRows(q)).filter(({ adapter }) => adapter === "http");
  const suppliers = (await listSuppliers(q, null)).filter(({ adapter }) => adapter !== "email");
  return [
    ...carriers.map(({ prefix, url, insecure }) => {
      return { what: `carrier ${prefix}`, url, insecure, command: `carriers set ${prefix}` };
    }),
    ...suppliers.map(({ name, url, insecure }) => {
      return { what: `supplier ${name}`, url, insecure, command: `suppliers set ${name}` };
    }),
  ];
}

function ofParty({ what, url, insecure, command }: Reached): Finding[] {
  if (url === null || !isCleartext(url)) return [];
  if (insecure) {
    return [
      warning("transport", `Requests to the ${what} go without TLS to ${url}.`, `esimctl ${command} --url https://…`),
    ];
  }
  const remedy = `esimctl ${command} --url https://…, or --insecure to allow it.`;
  return [fault("transport", `Nothing is sent to the ${what}: ${url} has no TLS.`, remedy)];
}

const servedInsecure = warning(
  "transport",
  "The platform is served with --insecure: mail and PostgreSQL may go beyond this machine without TLS.",
  "Use smtps:// or STARTTLS, and sslmode=verify-full, and serve without --insecure.",
);

const servedInClear = warning(
  "transport",
  "HTTP is answered beyond this machine, and the public address is not https: secrets and tokens travel in clear.",
  "Listen on 127.0.0.1 behind a proxy that speaks TLS, and name its address: --public-url https://…",
);

/** What a PostgreSQL server reports of the moment: whether writes are held up, and the time. None for SQLite. */
export async function checkServer(reading: Pick<Reading, "ping">, clock: Clock): Promise<Finding[]> {
  const pulse = await reading.ping();
  if (pulse.now === null) return [];
  return [writes(heldUpMs(pulse)), clocks(await clockAhead(reading, clock))];
}

function writes(heldMs: number | null): Finding {
  if (heldMs === null) return fine("writes", "No session holds up writes.");
  const message = `A session holds up all writes and does nothing for ${Math.round(heldMs / 1_000)} s.`;
  const remedy =
    "A node is suspended or cut off amid a write: find it and restart it. PostgreSQL ends its session 10 s after its " +
    "last statement; of one that stays, pg_stat_activity has pid and client_addr, and pg_terminate_backend ends it.";
  return fault("writes", message, remedy);
}

function clocks(aheadMs: number | null): Finding {
  if (aheadMs === null) {
    const message = "The database took too long to respond for its clock to be compared with this machine's.";
    return warning("database_clock", message, "Run it again; check the network and the load of the server.");
  }
  if (!isClockOff(aheadMs)) return fine("database_clock", "This machine's clock agrees with the database's.");
  return fault(
    "database_clock",
    `This machine's clock is ${differenceWords(aheadMs)} the database's.`,
    `Set it, and keep it right with NTP: beyond ${CLOCK_TOLERANCE_MS / 1_000} s a node takes no work.`,
  );
}

/** "3 s ahead of" */
function differenceWords(aheadMs: number): string {
  return `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
}

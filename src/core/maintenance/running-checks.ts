import { isClockOff } from "../platform/clock-difference.ts";
import { currentOutages } from "../platform/outages.ts";
import { currentPauses } from "../platform/pauses.ts";
import { type ServingNode, servingState, withoutDaemon } from "../platform/serving.ts";
import type { Read } from "../store/store.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";
import { differenceWords } from "./server-checks.ts";

/** Nodes whose clock is off. */
export async function checkNodeClocks(q: Read): Promise<Finding[]> {
  const { nodes } = await servingState(q);
  return nodes.filter(({ clock_ahead_ms: ahead }) => isClockOff(ahead)).map(clockOff);
}

/** Nodes whose replica answers no reads. */
export async function checkReplicas(q: Read): Promise<Finding[]> {
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
export async function checkPauses(q: Read): Promise<Finding[]> {
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

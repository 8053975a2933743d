import type { Owner } from "../../kernel/owner.ts";
import type { TableName } from "./tables.ts";

// What commands may write beside each other on PostgreSQL (docs/decisions/0049). A command without a lane runs alone.

/** What commands of a kind touch beside what stays as it is while any of them runs. */
interface LaneRules {
  /** Commands of one slot run one after the other; keys are spread over so many. */
  slots: number;
  /** Tables in which they write and read only rows of their lane's key, which no other lane touches. */
  own: readonly TableName[];
  /** Tables in which they only insert rows. Another kind changes these once they are committed, which may be seen. */
  added: readonly TableName[];
  /**
   * Tables in which other lanes write the same rows. Each is locked until the commit by the statement that counts in it
   * (stock pools, heads of chains), by one that reads it (endpoints), or by the choice of it, which leaves out what is
   * locked (eSIMs in stock).
   */
  locked: readonly TableName[];
  /** Tables that others write, and they only read: whatever is committed at that moment is right. */
  seen: readonly TableName[];
}

/** Orders of a partner in one environment write these, from creation to fulfillment, and no order of another does. */
const ofOrders = [
  "orders",
  "orderLines",
  "orderItems",
  "idempotencyKeys",
  "credentialSpending",
  "peopleIndex",
  "eventFeeds",
] as const;

/** What the worker sends. */
const ofEvents = ["events", "deliveries"] as const;

/** Entries of the audit trail are of their chain, whose head is locked; an endpoint says when it is to be looked at. */
const ofPartners = ["chainHeads", "auditEntries", "webhookEndpoints"] as const;

/**
 * The kinds of lanes. A test runs their commands, and fails where a statement touches a table that is in no list of its
 * kind and that a command of any kind writes.
 */
export const laneKinds = {
  /** Production orders, by partner. Settings: of the sandbox's orders only their count of units changes. */
  orders: {
    slots: 8,
    own: [...ofOrders, "wallets", "ledgerTransactions", "ledgerPostings"],
    added: ofEvents,
    locked: [...ofPartners, "stockPools", "esims"],
    seen: ["settings"],
  },
  /** Orders of the sandbox, all partners': they share one count of units. A wallet is shown there, and not charged. */
  sandboxOrders: { slots: 1, own: [...ofOrders, "settings"], added: ofEvents, locked: ofPartners, seen: ["wallets"] },
  /** Webhooks, all partners': a turn of the worker is about many. */
  deliveries: {
    slots: 1,
    own: ["deliveries", "deliveryAttempts"],
    added: [],
    locked: ["webhookEndpoints"],
    seen: ["events"],
  },
  /** Requests by the minute, and those that were refused, which nothing else looks at. */
  requestCounts: { slots: 1, own: ["requestCounts", "refusedRequests"], added: [], locked: [], seen: [] },
} as const satisfies Record<string, LaneRules>;

export type LaneKind = keyof typeof laneKinds;

/** What a command keeps to, so that it may run beside commands of other lanes. */
export interface Lane {
  kind: LaneKind;
  /** Commands of the same kind and key run one after the other. */
  key: string;
}

/** The lane of what becomes of an owner's orders by themselves, and of their creation. */
export function laneOfOrders({ partnerId, environment }: Owner): Lane {
  return environment === "production" ? { kind: "orders", key: partnerId } : { kind: "sandboxOrders", key: "" };
}

const firstSlots = new Map<LaneKind, number>();
let slots = 0;
for (const [kind, rules] of Object.entries(laneKinds)) {
  // The names of the kinds.
  firstSlots.set(kind as LaneKind, slots);
  slots += rules.slots;
}

/** The slot of a lane, the same on all nodes: two lanes may share one. */
export function slotOf({ kind, key }: Lane): number {
  return (firstSlots.get(kind) ?? 0) + (hashOf(key) % laneKinds[kind].slots);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Cost } from "../../../../core/kernel/brand.ts";
import type { Ask, Step } from "../../../../core/supply/provider.ts";
import { deliveredEsim } from "../delivered.ts";
import { afterSending, lookAgain, lookFailed, lookLater, notBought, notUnderstood } from "../look-ups.ts";
import { type Failed, reasonOf } from "../reply.ts";
import { Count, maybe, notedCost } from "../values.ts";
import type { Client } from "./client.ts";
import { esimOf } from "./esims.ts";
import { applyToNewEsim, guardPrice, newEsimsSince, ordersSince, placeOrder, remainingOf } from "./orders.ts";

const Noted = Type.Object({
  /** `fill`: an order for the inventory. `apply`: from there onto a new eSIM. */
  stage: Type.Enum(["fill", "apply"]),
  /** When the request was about to be made, by the provider's clock, and how many the inventory had then. */
  since: Count,
  remaining: Count,
  looks: Count,
  silent: Count,
  /** Whether this purchase filled the inventory, by which `order`, at what `cost`. */
  own: Type.Boolean(),
  /** How often apply may have been sent, and since when look-ups find the inventory unchanged. */
  attempts: Count,
  ...maybe(Count, "cost", "unchangedSince"),
  /** The eSIM that was made is `iccid`, by the apply `reference`. */
  ...maybe(Type.String(), "order", "iccid", "reference"),
});
const noted = Compile(Noted);
type Noted = Type.Static<typeof Noted>;

/** By plan how many bundles the inventory shows that are not to be had, as an apply was refused for want of them. */
export type Phantoms = Map<string, number>;

interface Buying {
  client: Client;
  ask: Ask;
  now: () => number;
  phantoms: Phantoms;
}

/** Look-ups find the inventory unchanged for so long (ms) before apply is sent a second time. */
const UNCHANGED_MS = 60_000;
const WAIT_MS = 5_000;
/** How often an inventory is asked again that does not have yet what was ordered, and for install data (15 minutes). */
const MOST_REFUSALS = 6;
const MOST_POLLS = 180;
/** How a refusal says that the inventory has no such bundle: no code does. */
const noStock = /inventory|stock|available|enough/i;

/**
 * Makes the next step of buying one unit: first into the inventory, then from there onto a new eSIM. An order that is
 * made twice leaves a spare, which serves the next purchase; what leaves the inventory can be seen there.
 */
export async function buyBundle(buying: Buying): Promise<Step> {
  const { memory, fresh } = buying.ask;
  // The plan is held before the inventory is read: no other purchase changes it from then on.
  if (memory === null) return fresh ? begin(buying) : note(buying, null);
  if (!noted.Check(memory)) return notUnderstood(memory);
  if (memory.iccid) return deliver(buying, memory);
  if (memory.stage === "fill") return fresh ? fill(buying, memory) : lookForFill(buying, memory);
  if (fresh) return apply(buying, memory);
  return memory.attempts === 0 ? note(buying, { ...memory, attempts: 1 }) : lookForApply(buying, memory);
}

function note({ ask }: Buying, memory: Noted | null): Step {
  return { kind: "note", memory, hold: ask.plan };
}

async function begin(buying: Buying): Promise<Step> {
  const { client, ask, phantoms } = buying;
  const stock = await remainingOf(client, ask.plan);
  if (stock.kind !== "done") return notBought(stock);
  const phantom = Math.min(stock.value, phantoms.get(ask.plan) ?? 0);
  phantoms.set(ask.plan, phantom);
  const since = sinceOf(stock.at, buying);
  const seen = { since, remaining: stock.value, looks: 0, silent: 0, own: false, attempts: 1 };
  if (stock.value > phantom) return note(buying, { ...seen, stage: "apply" });
  return (await guardPrice(client, ask)) ?? note(buying, { ...seen, stage: "fill" });
}

async function fill(buying: Buying, memory: Noted): Promise<Step> {
  const reply = await placeOrder(buying.client, buying.ask);
  if (reply.kind !== "done") return afterSending(memory, reply);
  return filled(buying, { ...memory, since: sinceOf(reply.at, buying), remaining: memory.remaining + 1 }, reply.value);
}

/** It is in the inventory, by this order if that is known, and is taken from there next. */
function filled(buying: Buying, memory: Noted, by?: { reference: string; cost: Cost | null }): Step {
  const bought = { own: true, order: by?.reference ?? null, cost: by?.cost ?? null };
  return note(buying, { ...memory, ...bought, stage: "apply", attempts: 1, looks: 0, silent: 0 });
}

async function lookForFill(buying: Buying, memory: Noted): Promise<Step> {
  const { client, ask } = buying;
  const stock = await remainingOf(client, ask.plan);
  if (stock.kind !== "done") return lookFailed(memory, stock);
  const orders = await ordersSince(client, ask, { since: memory.since, type: "bundle" });
  if (orders.kind !== "done") return lookFailed(memory, orders);
  const [first, ...others] = orders.value;
  if (stock.value <= memory.remaining && first === undefined) {
    return lookAgain({ ...memory, looks: memory.looks + 1 }, "no order is found, and nothing in the inventory");
  }
  const remaining = Math.max(stock.value, memory.remaining + 1);
  const seen = { ...memory, since: sinceOf(stock.at, buying), remaining };
  return filled(buying, seen, others.length === 0 ? first : undefined);
}

async function apply(buying: Buying, memory: Noted): Promise<Step> {
  const { client, ask, phantoms } = buying;
  const reply = await applyToNewEsim(client, ask.plan);
  if (reply.kind === "done") return deliver(buying, { ...memory, ...reply.value, looks: 0 });
  if (reply.kind === "unclear") return afterSending(memory, reply);
  // This one was not done; one before it may have been.
  if (reply.kind === "refused" && memory.attempts > 1) return lookLater(memory, reply.message);
  if (memory.own || memory.attempts > 1) return notApplied({ ...memory, attempts: memory.attempts - 1 }, reply);
  if (reply.kind !== "refused" || !noStock.test(reply.message)) return reply;
  // The spare is none: it was taken before, or has lapsed, and the inventory shows it still.
  phantoms.set(ask.plan, memory.remaining);
  return note(buying, null);
}

/** What was bought is in the inventory: no other order may be made in its place, and none may take it for a spare. */
function notApplied(memory: Noted, reply: Failed): Step {
  if (reply.kind === "busy") return { kind: "wait", memory, waitMs: reply.waitMs, holds: true };
  if (reply.kind !== "refused") return lookFailed(memory, reply);
  if (noStock.test(reply.message) && memory.looks < MOST_REFUSALS) {
    return { kind: "wait", memory: { ...memory, looks: memory.looks + 1 }, waitMs: WAIT_MS, holds: true };
  }
  const reason = `it is bought and in the inventory, and apply was refused: ${reply.message}`;
  return { kind: "lost", reason, memory: { ...memory, looks: 0 } };
}

async function lookForApply(buying: Buying, memory: Noted): Promise<Step> {
  const { client, ask, now } = buying;
  const stock = await remainingOf(client, ask.plan);
  if (stock.kind !== "done") return lookFailed(memory, stock);
  const esims = await newEsimsSince(client, ask, memory.since);
  if (esims.kind !== "done") return lookFailed(memory, esims);
  const [esim, ...others] = esims.value;
  if (esim !== undefined && others.length === 0) return deliver(buying, { ...memory, ...esim, looks: 0 });
  if (esim !== undefined) {
    const iccids = esims.value.map(({ iccid }) => iccid).join(", ");
    return { kind: "lost", reason: `each of these eSIMs may be the one: ${iccids}`, memory };
  }
  const unchangedSince = stock.value === memory.remaining ? (memory.unchangedSince ?? now()) : null;
  const looked = { ...memory, looks: memory.looks + 1, unchangedSince };
  if (unchangedSince === null) return lookAgain(looked, "it left the inventory, and its eSIM is not found");
  const next = lookAgain(looked, "the inventory has it still, and no new eSIM is found");
  const repeats = next.kind !== "lost" && memory.attempts === 1 && now() - unchangedSince >= UNCHANGED_MS;
  return repeats ? note(buying, { ...memory, attempts: 2, looks: 0, unchangedSince: null }) : next;
}

async function deliver({ client }: Buying, memory: Noted): Promise<Step> {
  const { iccid, reference = null, order, cost } = memory;
  const reply = await esimOf(client, iccid ?? "");
  const shown = reply.kind === "done" && reply.value.iccid === iccid ? reply.value : null;
  const codes = [`LPA:1$${shown?.smdpAddress ?? ""}$${shown?.matchingId ?? ""}`];
  const esim = shown && deliveredEsim({ iccid: shown.iccid, codes, reference });
  // The order of a spare is that of an earlier purchase; the apply is of this one alone.
  if (esim !== null) return { kind: "bought", esim, reference: order ?? reference, cost: notedCost(cost) };
  const why = reply.kind === "done" ? "no activation code can be made of what it shows" : reasonOf(reply);
  const reason = `eSIM ${iccid} is bought: ${why}`;
  if (memory.looks >= MOST_POLLS) return { kind: "lost", reason, memory };
  return { kind: "wait", memory: { ...memory, looks: memory.looks + 1 }, waitMs: WAIT_MS };
}

/** When what follows begins by the provider's clock; where that is not shown, a minute before by our own. */
function sinceOf(at: number | null, { now }: Buying): number {
  return at ?? now() - 60_000;
}

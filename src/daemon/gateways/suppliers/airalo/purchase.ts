import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FormData } from "undici";
import type { Ask, Step, TopupAsk } from "../../../../core/supply/provider.ts";
import type { Client } from "./client.ts";
import { lookUp, Ordered, type Purchase, unknown } from "./look-up.ts";
import { costOfOrder, esimOf, readOrder, referenceOf } from "./order.ts";

/** What purchases need of the adapter. */
export interface Buying {
  client: Client;
  /** The clock, in ms. */
  now(): number;
}

const ordered = Compile(Ordered);
/** A limit refused the order: it is known not to be sent. */
const limited = Compile(Type.Object({ stage: Type.Literal("limited"), waitMs: Type.Number() }));

/** The next step of buying an eSIM. */
export function buyEsim(buying: Buying, ask: Ask): Promise<Step> {
  return nextStep(buying, ask, {
    order: (description) => ({
      method: "POST",
      path: "/orders",
      body: form({ package_id: ask.plan, quantity: "1", type: "sim", description }),
    }),
    read(order) {
      const esim = esimOf(order);
      return esim === null ? null : { kind: "bought", esim, reference: referenceOf(order), cost: costOfOrder(order) };
    },
  });
}

/** The next step of a top-up. */
export function buyTopup(buying: Buying, ask: TopupAsk): Promise<Step> {
  return nextStep(buying, ask, {
    order: (description) => ({
      method: "POST",
      path: "/orders/topups",
      body: form({ package_id: ask.plan, iccid: ask.esim.iccid, description }),
    }),
    read: (order) => ({ kind: "applied", reference: referenceOf(order), cost: costOfOrder(order) }),
  });
}

async function nextStep({ client, now }: Buying, ask: Ask, purchase: Purchase): Promise<Step> {
  const { memory, fresh } = ask;
  if (limited.Check(memory) && fresh) return { kind: "busy", waitMs: memory.waitMs };
  if (memory === null || limited.Check(memory)) {
    const noted: Ordered = { stage: "order", token: tokenOf(ask), since: now(), looks: 0, silent: 0 };
    return { kind: "note", memory: noted };
  }
  if (!ordered.Check(memory)) return { kind: "lost", reason: "what was noted of it is not understood", memory };
  return fresh ? sendOrder(client, purchase, memory) : lookUp(client, purchase, memory);
}

/**
 * The description of the order: of this purchase alone, and not to be guessed. The search reads `%` and `_` as
 * patterns, of which it has none.
 */
function tokenOf({ reference }: Ask): string {
  return `esimctl-${reference.replaceAll("-", "")}`;
}

/** Sends the order, once. No `to_email`: Airalo would write to the traveler itself. */
async function sendOrder(client: Client, purchase: Purchase, memory: Ordered): Promise<Step> {
  const reply = await client.send(purchase.order(memory.token));
  if (reply.kind === "done") {
    const order = readOrder(reply.body);
    const bought = order === null ? null : purchase.read(order);
    return bought ?? unknown("the answer to the order is not understood", memory);
  }
  if (reply.kind === "unclear") return unknown(reply.reason, memory);
  // The memory has to say that nothing was sent, or the next run would look the order up, and never buy.
  if (reply.kind === "busy") return { kind: "note", memory: { stage: "limited", waitMs: reply.waitMs } };
  return reply;
}

function form(fields: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Memory } from "../../../../core/store/schema/values.ts";
import type { Step, TopupAsk } from "../../../../core/supply/provider.ts";
import { type EsimgoClient, notBought, usable } from "./client.ts";
import { bundlesOn, referenceOf } from "./esims.ts";
import { lookAgain, lookFailed, lookLater } from "./look-ups.ts";
import { guardPrice, orderRefused, placeOrder } from "./orders.ts";

const Count = Type.Integer({ minimum: 0 });
const Noted = Type.Object({
  /** `begin`: nothing is under way. `topup`: an order for the eSIM, which had `assignments` of the plan before. */
  stage: Type.Union([Type.Literal("begin"), Type.Literal("topup")]),
  since: Count,
  assignments: Count,
  looks: Count,
});
const noted = Compile(Noted);
const start = { stage: "begin", since: 0, assignments: 0, looks: 0 } as const;
const compatible = Compile(Type.Object({ compatible: Type.Boolean() }));

/** Whether a plan can be put on an eSIM. Throws `supplier_unreachable`. */
export async function fitsOn({ askPeople }: EsimgoClient, iccid: string, plan: string): Promise<boolean> {
  const path = `/esims/${encodeURIComponent(iccid)}/compatible/${encodeURIComponent(plan)}`;
  const reply = await askPeople({ method: "GET", path }, compatible);
  if (reply.kind === "refused" && (reply.code === "400" || reply.code === "410")) return false;
  return usable(reply).compatible;
}

/** Makes the next step of a top-up: another bundle on the eSIM, which shows it there. */
export async function topUpEsim(client: EsimgoClient, ask: TopupAsk, now: () => number): Promise<Step> {
  const { memory, plan, esim } = ask;
  const note = (next: Memory): Step => ({ kind: "note", memory: next, hold: plan });
  if (memory === null) return note(start);
  if (!noted.Check(memory)) return { kind: "lost", reason: "what was noted is not understood", memory };
  if (memory.stage === "topup" && ask.fresh) return order(client, ask, memory);
  const on = await bundlesOn(client.ask, esim.iccid);
  if (on.kind !== "done") return memory.stage === "begin" ? notBought(on) : lookFailed(memory, on);
  const alike = on.value.filter((one) => one.plan === plan);
  if (memory.stage === "begin") {
    const stopped = await guardPrice(client, ask, esim.iccid);
    return stopped ?? note({ ...start, stage: "topup", since: now(), assignments: alike.length });
  }
  if (alike.length <= memory.assignments) {
    return lookAgain({ ...memory, looks: memory.looks + 1 }, "no further bundle is found on the eSIM");
  }
  const references = alike.flatMap((one) => referenceOf(one) ?? []);
  const known = await ask.known(references);
  const [reference = null, ...others] = references.filter((one) => !known.has(one));
  return { kind: "applied", reference: others.length === 0 ? reference : null, cost: null };
}

async function order(client: EsimgoClient, ask: TopupAsk, memory: Memory & { looks: number }): Promise<Step> {
  const reply = await placeOrder(client, ask.plan, ask.esim.iccid);
  if (reply.kind === "unclear") return lookLater(memory, reply.reason, reply.waitMs);
  if (reply.kind === "busy") return reply;
  if (reply.kind !== "done") return orderRefused(client, ask, reply);
  const { reference, cost, iccids } = reply.value;
  if (iccids.length > 0 && !iccids.includes(ask.esim.iccid)) {
    return lookLater(memory, `order ${reference} names another eSIM`, null);
  }
  return { kind: "applied", reference, cost };
}

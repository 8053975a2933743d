import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Step, TopupAsk } from "../../../../core/supply/provider.ts";
import { afterSending, lookAgain, lookFailed, lookLater, notBought, notUnderstood } from "../look-ups.ts";
import { usable } from "../reply.ts";
import { Count } from "../values.ts";
import { type Client, NAME } from "./client.ts";
import { bundlesOn, referenceOf } from "./esims.ts";
import { guardPrice, placeOrder } from "./orders.ts";

/** An order for the eSIM, which had `assignments` of the plan before. */
const Noted = Type.Object({ stage: Type.Literal("topup"), assignments: Count, looks: Count, silent: Count });
const noted = Compile(Noted);
const compatible = Compile(Type.Object({ compatible: Type.Boolean() }));

/** Whether a plan can be put on an eSIM. Throws `supplier_unreachable`. */
export async function fitsOn(client: Client, iccid: string, plan: string): Promise<boolean> {
  const path = `/esims/${encodeURIComponent(iccid)}/compatible/${encodeURIComponent(plan)}`;
  const reply = await client({ method: "GET", path }, compatible);
  if (reply.kind === "refused" && (reply.code === "400" || reply.code === "410")) return false;
  return usable(NAME, reply).compatible;
}

/** Makes the next step of a top-up: another bundle on the eSIM, which shows it there. */
export async function topUpEsim(client: Client, ask: TopupAsk): Promise<Step> {
  const { memory, plan, esim, fresh } = ask;
  if (memory === null && !fresh) return { kind: "note", memory, hold: plan };
  if (memory !== null && !noted.Check(memory)) return notUnderstood(memory);
  if (memory !== null && fresh) {
    const reply = await placeOrder(client, ask);
    if (reply.kind !== "done") return afterSending(memory, reply);
    const { reference, cost, iccids } = reply.value;
    if (iccids.length === 0 || iccids.includes(esim.iccid)) return { kind: "applied", reference, cost };
    return lookLater(memory, `order ${reference} names another eSIM`);
  }
  const on = await bundlesOn(client, esim.iccid);
  if (on.kind !== "done") return memory === null ? notBought(on) : lookFailed(memory, on);
  const alike = on.value.filter((one) => one.plan === plan);
  if (memory === null) {
    const next = { stage: "topup", assignments: alike.length, looks: 0, silent: 0 };
    return (await guardPrice(client, ask)) ?? { kind: "note", memory: next, hold: plan };
  }
  if (alike.length <= memory.assignments) {
    return lookAgain({ ...memory, looks: memory.looks + 1 }, "no further bundle is found on the eSIM");
  }
  const references = alike.flatMap((one) => referenceOf(one) ?? []);
  const known = await ask.known(references);
  const [reference = null, ...others] = references.filter((one) => !known.has(one));
  return { kind: "applied", reference: others.length === 0 ? reference : null, cost: null };
}

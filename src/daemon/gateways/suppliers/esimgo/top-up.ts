import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Memory } from "../../../../core/store/schema/values.ts";
import type { Step, TopupAsk } from "../../../../core/supply/provider.ts";
import { lookAgain, lookFailed, lookLater, notBought, notUnderstood } from "../look-ups.ts";
import { usable } from "../reply.ts";
import { type Client, NAME } from "./client.ts";
import { bundlesOn, referenceOf } from "./esims.ts";
import { guardPrice, placeOrder } from "./orders.ts";

const Count = Type.Integer({ minimum: 0 });
const Noted = Type.Object({
  /** An order for the eSIM, which had `assignments` of the plan before. */
  stage: Type.Literal("topup"),
  since: Count,
  assignments: Count,
  looks: Count,
  silent: Count,
});
const noted = Compile(Noted);
const compatible = Compile(Type.Object({ compatible: Type.Boolean() }));

/** Whether a plan can be put on an eSIM. Throws `supplier_unreachable`. */
export async function fitsOn({ askPeople }: Client, iccid: string, plan: string): Promise<boolean> {
  const path = `/esims/${encodeURIComponent(iccid)}/compatible/${encodeURIComponent(plan)}`;
  const reply = await askPeople({ method: "GET", path }, compatible);
  if (reply.kind === "refused" && (reply.code === "400" || reply.code === "410")) return false;
  return usable(NAME, reply).compatible;
}

/** Makes the next step of a top-up: another bundle on the eSIM, which shows it there. */
export async function topUpEsim(client: Client, ask: TopupAsk, now: () => number): Promise<Step> {
  const { memory, plan, esim } = ask;
  const note = (next: Memory | null): Step => ({ kind: "note", memory: next, hold: plan });
  if (memory === null && !ask.fresh) return note(null);
  if (memory !== null && !noted.Check(memory)) return notUnderstood(memory);
  if (memory !== null && ask.fresh) {
    return placeOrder(client, ask, memory, ({ reference, cost, iccids }) => {
      if (iccids.length === 0 || iccids.includes(esim.iccid)) return { kind: "applied", reference, cost };
      return lookLater(memory, `order ${reference} names another eSIM`);
    });
  }
  const on = await bundlesOn(client.ask, esim.iccid);
  if (on.kind !== "done") return memory === null ? notBought(on) : lookFailed(memory, on);
  const alike = on.value.filter((one) => one.plan === plan);
  if (memory === null) {
    const stopped = await guardPrice(client, ask);
    return stopped ?? note({ stage: "topup", since: now(), assignments: alike.length, looks: 0, silent: 0 });
  }
  if (alike.length <= memory.assignments) {
    return lookAgain({ ...memory, looks: memory.looks + 1 }, "no further bundle is found on the eSIM");
  }
  const references = alike.flatMap((one) => referenceOf(one) ?? []);
  const known = await ask.known(references);
  const [reference = null, ...others] = references.filter((one) => !known.has(one));
  return { kind: "applied", reference: others.length === 0 ? reference : null, cost: null };
}

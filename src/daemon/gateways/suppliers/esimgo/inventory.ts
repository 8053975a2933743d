import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Ask, EsimRef } from "../../../../core/supply/provider.ts";
import { mapped, type Reply } from "../reply.ts";
import type { Client } from "./client.ts";
import { bundlesOn, referenceOf } from "./esims.ts";
import { ordersSince } from "./orders.ts";

const Stock = Type.Object({ name: Type.String(), available: Type.Array(Type.Object({ remaining: Type.Integer() })) });
const listed = Compile(Type.Object({ bundles: Type.Array(Stock) }));
const Esim = Type.Object({ iccid: Type.String({ pattern: "^\\d{18,22}$" }) });
const applyReference = Type.String({ minLength: 1, maxLength: 200 });
const applied = Compile(Type.Object({ esims: Type.Tuple([Esim]), applyReference }));

/** How many bundles of a plan the inventory has. */
export async function remainingOf(client: Client, plan: string): Promise<Reply<number>> {
  return mapped(await client({ method: "GET", path: "/inventory" }, listed), ({ bundles }) => {
    const available = bundles.flatMap((one) => (one.name === plan ? one.available : []));
    return available.reduce((sum, { remaining }) => sum + remaining, 0);
  });
}

/** Puts a bundle of the inventory on a new eSIM, whose reference is that of the apply. */
export async function applyToNewEsim(client: Client, plan: string): Promise<Reply<EsimRef>> {
  const body = { name: plan, allowReassign: false };
  const reply = await client({ method: "POST", path: "/esims/apply", body }, applied);
  return mapped(reply, ({ esims, applyReference: reference }) => ({ iccid: esims[0].iccid, reference }));
}

/** The eSIMs that this plan was put on from the inventory since then, and that no other purchase is known to have. */
export async function newEsimsSince(client: Client, ask: Ask, since: number): Promise<Reply<EsimRef[]>> {
  const rows = await ordersSince(client, ask, { since, type: "bundleAssignment" });
  if (rows.kind !== "done") return rows;
  const found: EsimRef[] = [];
  for (const { reference: listed, iccids } of rows.value) {
    const [iccid, ...others] = iccids;
    if (iccid === undefined || others.length > 0) continue;
    const on = await bundlesOn(client, iccid);
    if (on.kind !== "done") return on;
    const bundle = on.value.find(({ plan }) => plan === ask.plan);
    // The list may name an order of its own; the eSIM shows the apply.
    const reference = (bundle && referenceOf(bundle)) ?? listed;
    if ((await ask.known([reference])).size === 0) found.push({ iccid, reference });
  }
  return { ...rows, value: found };
}

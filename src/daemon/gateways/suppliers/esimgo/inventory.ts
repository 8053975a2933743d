import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Ask } from "../../../../core/supply/provider.ts";
import { mapped, type Reply } from "../reply.ts";
import type { Client } from "./client.ts";
import { bundlesOn, referenceOf } from "./esims.ts";
import { ordersSince } from "./orders.ts";

const available = Type.Array(Type.Object({ remaining: Type.Integer() }));
const Stock = Type.Object({ name: Type.String(), available });
const listed = Compile(Type.Object({ bundles: Type.Array(Stock) }));
const Esim = Type.Object({ iccid: Type.String({ pattern: "^\\d{18,22}$" }) });
const applyReference = Type.String({ minLength: 1, maxLength: 200 });
const applied = Compile(Type.Object({ esims: Type.Tuple([Esim]), applyReference }));
// One eSIM is an object, several are an array.
const details = Compile(Type.Union([Esim, Type.Array(Esim)]));

/** An eSIM, and the apply that made it. */
interface NewEsim {
  iccid: string;
  reference: string;
}

/** How many bundles of a plan the inventory has. */
export async function remainingOf({ ask }: Client, plan: string): Promise<Reply<number>> {
  return mapped(await ask({ method: "GET", path: "/inventory" }, listed), ({ bundles }) => {
    const available = bundles.flatMap((one) => (one.name === plan ? one.available : []));
    return available.reduce((sum, { remaining }) => sum + remaining, 0);
  });
}

/** Puts a bundle of the inventory on a new eSIM. */
export async function applyToNewEsim({ ask }: Client, plan: string): Promise<Reply<NewEsim>> {
  const body = { name: plan, allowReassign: false };
  const reply = await ask({ method: "POST", path: "/esims/apply", body }, applied);
  return mapped(reply, ({ esims, applyReference: reference }) => ({ iccid: esims[0].iccid, reference }));
}

/** Whether a refusal says that the inventory has no such bundle: its text alone does. */
export function saysNoStock(message: string): boolean {
  return /inventory|stock|available|enough/i.test(message);
}

/** The eSIMs that this plan was put on from the inventory since then, and that no other purchase is known to have. */
export async function newEsimsSince(client: Client, ask: Ask, since: number): Promise<Reply<NewEsim[]>> {
  const rows = await ordersSince(client, ask, { since, type: "bundleAssignment" });
  if (rows.kind !== "done") return rows;
  const found = new Map<string, NewEsim>();
  for (const row of rows.value) {
    const iccids = await iccidsOf(client, row);
    if (iccids.kind !== "done") return iccids;
    const [iccid] = iccids.value;
    if (iccid === undefined || iccids.value.length > 1) continue;
    const bundles = await bundlesOn(client.ask, iccid);
    if (bundles.kind !== "done" && bundles.kind !== "refused") return bundles;
    const on = bundles.kind === "done" ? bundles.value.find((one) => one.plan === ask.plan) : undefined;
    // The list may name an order of its own; the eSIM shows the apply.
    const reference = (on && referenceOf(on)) ?? row.reference;
    if ((await ask.known([reference])).size === 0) found.set(iccid, { iccid, reference });
  }
  return { ...rows, value: [...found.values()] };
}

async function iccidsOf({ ask }: Client, row: { reference: string; iccids: string[] }): Promise<Reply<string[]>> {
  if (row.iccids.length > 0) return { kind: "done", value: row.iccids, at: null };
  const path = `/esims/assignments?reference=${encodeURIComponent(row.reference)}`;
  return mapped(await ask({ method: "GET", path }, details), (one) => [one].flat().map(({ iccid }) => iccid));
}

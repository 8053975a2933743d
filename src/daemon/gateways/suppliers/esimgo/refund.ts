import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, Returned } from "../../../../core/supply/provider.ts";
import { notReturned } from "../reply.ts";
import { maybe } from "../values.ts";
import { type Client, NAME } from "./client.ts";
import { type Assigned, bundlesOn, isWaiting, referenceOf } from "./esims.ts";

const revoked = Compile(Type.Object({ status: Type.String() }));
const Rows = Type.Array(Type.Object({ name: Type.String(), ...maybe(Type.String(), "bundle", "bundleName") }));
const history = Compile(Type.Union([Rows, Type.Object({ history: Rows }), Type.Object({ actions: Rows })]));

/** Gives an unstarted bundle back to the balance, where the provider says before and after that it does. */
export async function refundEsim(client: Client, { iccid, reference }: EsimRef): Promise<Returned> {
  const on = await bundlesOn(client, iccid);
  if (on.kind !== "done") return notReturned(NAME, on);
  const bundle = boughtWith(on.value, reference);
  if (bundle === null) return unavailable("it cannot be seen which of the eSIM's bundles was bought with it");
  if (bundle.bundleState === "revoked") return wasRefunded(client, iccid, bundle);
  if (!isWaiting(bundle)) return unavailable(`the bundle is ${bundle.bundleState}: only an unstarted one is refunded`);
  const name = `${encodeURIComponent(bundle.plan)}/assignments/${encodeURIComponent(bundle.id)}`;
  const path = `/esims/${encodeURIComponent(iccid)}/bundles/${name}?refundToBalance=true`;
  const asked = await client({ method: "DELETE", path: `${path}&type=validate` }, revoked);
  if (asked.kind !== "done") return notReturned(NAME, asked);
  if (!repays(asked.value.status)) return unavailable(`eSIM Go gives nothing back: ${asked.value.status}`);
  const answer = await client({ method: "DELETE", path: `${path}&type=transaction` }, revoked);
  if (answer.kind !== "done") return notReturned(NAME, answer);
  return repays(answer.value.status) ? repaid(answer.value.status, bundle) : wasRefunded(client, iccid, bundle);
}

/** After an answer that was lost, or says something else: the history shows whether the balance got it. */
async function wasRefunded(client: Client, iccid: string, bundle: Assigned): Promise<Returned> {
  const reply = await client({ method: "GET", path: `/esims/${encodeURIComponent(iccid)}/history` }, history);
  if (reply.kind !== "done") return notReturned(NAME, reply);
  const shown = reply.value;
  const rows = Array.isArray(shown) ? shown : "history" in shown ? shown.history : shown.actions;
  const found = rows.find((row) => (row.bundleName ?? row.bundle) === bundle.plan && repays(row.name));
  return found ? repaid(found.name, bundle) : unavailable("the bundle was revoked, and its history shows no refund");
}

function boughtWith(all: readonly Assigned[], reference: string | null): Assigned | null {
  const own = all.filter((one) => referenceOf(one) === reference || one.assignmentReference === reference);
  const [only, ...others] = reference === null || own.length === 0 ? all : own;
  return others.length === 0 ? (only ?? null) : null;
}

/** Its words are all there is to go by. */
function repays(words: string): boolean {
  return /refunded to (the )?balance/i.test(words) && !/\b(no|not)\b/i.test(words);
}

function repaid(detail: string, bundle: Assigned): Returned {
  return { outcome: "done", detail, reference: referenceOf(bundle), replacement: null };
}

function unavailable(detail: string): Returned {
  return { outcome: "not_available", detail };
}

import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, Returned } from "../../../../core/supply/provider.ts";
import { type Failed, reasonOf } from "../reply.ts";
import { maybe } from "../values.ts";
import type { Client } from "./client.ts";
import { type Assigned, bundlesOn, referenceOf } from "./esims.ts";

const revoked = Compile(Type.Object({ status: Type.String() }));
const Row = Type.Object({ name: Type.String(), ...maybe(Type.String(), "bundle", "bundleName") });
const Rows = Type.Array(Row);
const history = Compile(Type.Union([Rows, Type.Object({ history: Rows }), Type.Object({ actions: Rows })]));

/** Gives an unstarted bundle back to the balance, where the provider says before and after that it does. */
export async function refundEsim({ ask }: Client, { iccid, reference }: EsimRef): Promise<Returned> {
  const on = await bundlesOn(ask, iccid);
  if (on.kind !== "done") return failed(on);
  const bundle = boughtWith(on.value, reference);
  if (bundle === null) return unavailable("it cannot be seen which of the eSIM's bundles was bought with it");
  if (bundle.bundleState === "revoked") return wasRefunded(ask, iccid, bundle);
  if (bundle.bundleState !== "queued" && bundle.bundleState !== "processing") {
    return unavailable(`the bundle is ${bundle.bundleState}: only an unstarted one is refunded`);
  }
  const name = `${encodeURIComponent(bundle.plan)}/assignments/${encodeURIComponent(bundle.id)}`;
  const path = `/esims/${encodeURIComponent(iccid)}/bundles/${name}?refundToBalance=true`;
  const asked = await ask({ method: "DELETE", path: `${path}&type=validate` }, revoked);
  if (asked.kind !== "done") return failed(asked);
  if (!repays(asked.value.status)) return unavailable(`eSIM Go gives nothing back: ${asked.value.status}`);
  const answer = await ask({ method: "DELETE", path: `${path}&type=transaction` }, revoked);
  if (answer.kind !== "done") return failed(answer);
  return repays(answer.value.status) ? done(answer.value.status, bundle) : wasRefunded(ask, iccid, bundle);
}

/** After an answer that was lost, or says something else: the history shows whether the balance got it. */
async function wasRefunded(ask: Client["ask"], iccid: string, bundle: Assigned): Promise<Returned> {
  const reply = await ask({ method: "GET", path: `/esims/${encodeURIComponent(iccid)}/history` }, history);
  if (reply.kind !== "done") return failed(reply);
  const rows = Array.isArray(reply.value) ? reply.value : Object.values(reply.value).flat();
  const found = rows.find((row) => (row.bundleName ?? row.bundle) === bundle.plan && repays(row.name));
  return found === undefined
    ? unavailable("the bundle was revoked, and its history shows no refund")
    : done(found.name, bundle);
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

function done(detail: string, bundle: Assigned): Returned {
  return { outcome: "done", detail, reference: referenceOf(bundle), replacement: null };
}

function unavailable(detail: string): Returned {
  return { outcome: "not_available", detail };
}

function failed(reply: Failed): Returned {
  if (reply.kind === "refused") return unavailable(`eSIM Go refused: ${reply.message}`);
  return { outcome: "unknown", detail: reasonOf(reply) };
}

import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { activationCode, readActivationCode } from "../../../../core/esims/activation-code.ts";
import type { BoughtEsim } from "../../../../core/supply/provider.ts";
import type { EsimgoClient, Reply } from "./client.ts";

const Esim = Type.Object({
  iccid: Type.String(),
  matchingId: Type.String(),
  smdpAddress: Type.String(),
  profileStatus: Type.Optional(Type.String()),
  // Milliseconds since 1970 here; a date elsewhere.
  firstInstalledDateTime: Type.Optional(Type.Union([Type.Number(), Type.String(), Type.Null()])),
  state: Type.Optional(Type.String()),
});
const esim = Compile(Esim);
const Time = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Assignment = Type.Object({
  id: Type.Union([Type.String(), Type.Number()]),
  assignmentReference: Type.Optional(Type.String()),
  initialQuantity: Type.Optional(Type.Number()),
  remainingQuantity: Type.Optional(Type.Number()),
  assignmentDateTime: Time,
  startTime: Time,
  endTime: Time,
  bundleState: Type.String(),
  unlimited: Type.Optional(Type.Boolean()),
});
const Bundle = Type.Object({ name: Type.String(), assignments: Type.Array(Assignment) });
const bundles = Compile(Type.Object({ bundles: Type.Array(Bundle) }));

/** An eSIM, and a bundle on it, as the provider shows them. */
export type EsimgoEsim = Type.Static<typeof Esim>;
export type Assigned = Type.Static<typeof Assignment> & { plan: string };

/** An eSIM by its ICCID. */
export function esimOf(ask: EsimgoClient["ask"], iccid: string): Promise<Reply<EsimgoEsim>> {
  return ask({ method: "GET", path: `/esims/${encodeURIComponent(iccid)}` }, esim);
}

/** Every bundle that is or was on an eSIM. */
export async function bundlesOn(ask: EsimgoClient["ask"], iccid: string): Promise<Reply<Assigned[]>> {
  const path = `/esims/${encodeURIComponent(iccid)}/bundles?includeUsed=true&limit=200`;
  const reply = await ask({ method: "GET", path }, bundles);
  if (reply.kind !== "done") return reply;
  const value = reply.value.bundles.flatMap(({ name, assignments }) =>
    assignments.map((one) => ({ ...one, plan: name, bundleState: one.bundleState.toLowerCase() })),
  );
  return { ...reply, value };
}

/** The order or the apply that put a bundle on an eSIM: its own reference has the unit's place behind it. */
export function referenceOf({ assignmentReference = "" }: Assigned): string | null {
  return assignmentReference.replace(/-\d{1,4}$/, "") || null;
}

/** What installs an eSIM; null: no activation code can be made of it. */
export function installedBy({ iccid, smdpAddress, matchingId }: EsimgoEsim): Omit<BoughtEsim, "reference"> | null {
  const code = activationCode({ smdp_address: smdpAddress, matching_id: matchingId });
  return "problems" in readActivationCode(code) ? null : { iccid, activationCode: code, confirmationCode: null };
}

/** A time in ms; null: it is not shown. One that is not set may be shown as one of the year 1. */
export function timeOf(time: string | number | null | undefined): number | null {
  const at = typeof time === "number" ? time : Date.parse(time ?? "");
  return at > 0 ? at : null;
}

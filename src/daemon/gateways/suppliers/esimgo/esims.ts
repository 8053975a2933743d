import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { mapped, type Reply } from "../reply.ts";
import { maybe, TextOrNumber } from "../values.ts";
import type { Client } from "./client.ts";

const Esim = Type.Object({
  iccid: Type.String(),
  matchingId: Type.String(),
  smdpAddress: Type.String(),
  ...maybe(Type.String(), "profileStatus", "state"),
  ...maybe(TextOrNumber, "firstInstalledDateTime"),
});
const esim = Compile(Esim);
const Assignment = Type.Object({
  id: TextOrNumber,
  bundleState: Type.String(),
  ...maybe(Type.String(), "assignmentReference", "startTime", "endTime"),
  ...maybe(Type.Number(), "initialQuantity", "remainingQuantity"),
  ...maybe(Type.Boolean(), "unlimited"),
});
const Bundle = Type.Object({ name: Type.String(), assignments: Type.Array(Assignment) });
const bundles = Compile(Type.Object({ bundles: Type.Array(Bundle) }));

/** An eSIM, and a bundle on it, as the provider shows them. */
export type EsimgoEsim = Type.Static<typeof Esim>;
export type Assigned = Type.Static<typeof Assignment> & { plan: string };

/** An eSIM by its ICCID. */
export function esimOf(ask: Client["ask"], iccid: string): Promise<Reply<EsimgoEsim>> {
  return ask({ method: "GET", path: `/esims/${encodeURIComponent(iccid)}` }, esim);
}

/** Every bundle that is or was on an eSIM. */
export async function bundlesOn(ask: Client["ask"], iccid: string): Promise<Reply<Assigned[]>> {
  const path = `/esims/${encodeURIComponent(iccid)}/bundles?includeUsed=true&limit=200`;
  return mapped(await ask({ method: "GET", path }, bundles), (shown) =>
    shown.bundles.flatMap(({ name: plan, assignments }) =>
      assignments.map((one) => ({ ...one, plan, bundleState: one.bundleState.toLowerCase() })),
    ),
  );
}

/** The order or the apply that put a bundle on an eSIM: its own reference has the unit's place behind it. */
export function referenceOf({ assignmentReference }: Assigned): string | null {
  return assignmentReference?.replace(/-\d{1,4}$/, "") || null;
}

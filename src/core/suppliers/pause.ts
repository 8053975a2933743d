import type { Actor } from "../audit/record.ts";
import { setPause } from "../audit/set-pause.ts";
import type { Tx } from "../store/store.ts";
import { requireSupplier, type Supplier, showSupplier } from "./supplier.ts";

/**
 * Refuses new orders of the supplier's products from now on. Those that were accepted go on. Throws `not_found`,
 * `validation` for the reason.
 */
export function pauseSupplier(tx: Tx, input: { name: string; reason: string; actor: Actor }): Promise<Supplier> {
  return setPauseOf(tx, { ...input, action: "suppliers.pause" });
}

/** Accepts new orders of the supplier's products again. Where it is not paused nothing changes. Throws `not_found`. */
export function resumeSupplier(tx: Tx, input: { name: string; actor: Actor }): Promise<Supplier> {
  return setPauseOf(tx, { ...input, reason: null, action: "suppliers.resume" });
}

interface Change {
  name: string;
  reason: string | null;
  actor: Actor;
  action: string;
}

async function setPauseOf(tx: Tx, { name, reason, actor, action }: Change): Promise<Supplier> {
  await requireSupplier(tx, name);
  const audit = { actor, action, targetKind: "supplier", targetId: name };
  await setPause(tx, { paused: { kind: "supplier", name }, reason, audit });
  return showSupplier(tx, name);
}

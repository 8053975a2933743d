import type { Tx } from "../store/store.ts";
import type { Partner } from "./partner.ts";
import { changePartner } from "./update.ts";

/** Stops the partner's API access at once. Accepted orders, activations and deliveries go on. Throws `not_found`. */
export async function suspendPartner(tx: Tx, input: { slug: string; actor: string }): Promise<Partner> {
  return changePartner(tx, input.slug, { status: "suspended" }, { actor: input.actor, action: "partners.suspend" });
}

/** Gives a suspended partner its API access back. Throws `not_found`. */
export async function resumePartner(tx: Tx, input: { slug: string; actor: string }): Promise<Partner> {
  return changePartner(tx, input.slug, { status: "active" }, { actor: input.actor, action: "partners.resume" });
}

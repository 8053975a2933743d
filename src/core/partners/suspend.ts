import { endSessionsAt } from "../accounts/sessions.ts";
import { invalid } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import type { Partner } from "./partner.ts";
import { changePartner } from "./update.ts";

const MOST_CHARACTERS = 500;

/**
 * Stops the partner's API access and signs its people out at once. Accepted orders, activations and deliveries go on.
 * The reason is for operators. Throws `not_found`, `validation`.
 */
export async function suspendPartner(
  tx: Tx,
  input: { slug: string; reason?: string | null; actor: string },
): Promise<Partner> {
  const suspended_reason = input.reason ?? null;
  if ((suspended_reason?.length ?? 0) > MOST_CHARACTERS) {
    throw invalid({ reason: [`must be at most ${MOST_CHARACTERS} characters`] });
  }
  const change = { status: "suspended", suspended_reason } as const;
  const partner = await changePartner(tx, input.slug, change, { actor: input.actor, action: "partners.suspend" });
  await endSessionsAt(tx, partner.id);
  return partner;
}

/** Gives a suspended partner its API access back. Throws `not_found`. */
export async function resumePartner(tx: Tx, input: { slug: string; actor: string }): Promise<Partner> {
  return changePartner(
    tx,
    input.slug,
    { status: "active", suspended_reason: null },
    { actor: input.actor, action: "partners.resume" },
  );
}

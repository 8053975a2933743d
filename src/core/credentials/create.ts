import { recordAudit } from "../audit/record.ts";
import { isoTime } from "../kernel/clock.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { requirePartner } from "../partners/partner.ts";
import { insert } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { type IssuedCredential, newSecret } from "./credential.ts";
import { scopes as allScopes, isScope } from "./scopes.ts";

/** Most characters of what a credential is called. */
export const MOST_LABEL = 200;

/** A credential as the operator asks for it. */
export interface NewCredential {
  partner: string;
  /** A production credential (`sk_live_`); otherwise one of the sandbox (`sk_test_`). */
  live: boolean;
  /** What it may ask for; left out: all six. */
  scopes?: string[];
  label?: string | null;
  /** The credential whose guard rails it has; left out or null: it has none. */
  guardedBy?: string | null;
  actor: string;
}

/**
 * Creates a credential; its secret is in the answer and nowhere else. Throws `not_found` for the partner, `validation`
 * for a scope that does not exist, `conflict` for a live one of a partner without production access.
 */
export async function createCredential(tx: Tx, input: NewCredential): Promise<IssuedCredential> {
  const partner = await requirePartner(tx, input.partner);
  const scopes = input.scopes ?? [...allScopes];
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0 || scopes.length === 0) {
    throw invalid({ scope: [`must name scopes among ${allScopes.join(", ")}`] });
  }
  if (input.live && !partner.production) {
    throw new Problem("conflict", `${partner.slug} has no production access.`);
  }
  const client_id = `${input.live ? "sk_live_" : "sk_test_"}${tx.ids.bytes(18).toString("hex")}`;
  const { secret, mark } = newSecret(tx, client_id);
  const environment = input.live ? "production" : "sandbox";
  const label = input.label ?? null;
  if ((label?.length ?? 0) > MOST_LABEL) throw invalid({ label: [`must be at most ${MOST_LABEL} characters`] });
  await insert(tx, "credentials", [
    {
      client_id,
      partner_id: partner.id,
      environment,
      secret_hash: mark,
      scopes: [...new Set(scopes)],
      label,
      guarded_by: input.guardedBy ?? null,
      created_at: tx.now,
    },
  ]);
  await recordAudit(tx, {
    actor: input.actor,
    action: "credentials.create",
    targetKind: "credential",
    targetId: client_id,
    partnerId: partner.id,
  });
  await tx.touch();
  return { client_id, client_secret: secret, environment, scopes, label, created_at: isoTime(tx.now) };
}

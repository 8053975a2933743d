import { requireCarrier } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { Secret } from "../kernel/secret.ts";
import type { Read, Tx } from "../store/store.ts";
import { activationById } from "./activation.ts";
import { applyOutcome } from "./apply-outcome.ts";
import type { CarrierOutcome } from "./outcome.ts";

/** The key of a carrier's callbacks, or null: no such carrier, or it has none. Both look the same from outside. */
export async function callbackSecret(q: Read, prefix: string): Promise<Secret | null> {
  const sealed = await requireCarrier(q, prefix).then(
    (carrier) => carrier.secret_sealed,
    (error: unknown) => {
      if (error instanceof Problem) return null;
      throw error;
    },
  );
  return sealed === null ? null : new Secret(q.vault.open(sealed));
}

/**
 * A carrier's later answer, its signature checked before. Said twice, or after a later step, it changes nothing:
 * `applied` is false then. Throws `not_found` for what is not this carrier's, `conflict` before the carrier had it.
 */
export async function takeCallback(
  tx: Tx,
  input: { prefix: string; id: ActivationId; outcome: CarrierOutcome; answer: string },
): Promise<{ applied: boolean }> {
  const row = await activationById(tx, input.id);
  if (row === null || row.carrier_prefix !== input.prefix) throw notFound("activation");
  if (row.submitted_at === null) {
    throw new Problem("conflict", "This activation was never handed to a carrier.");
  }
  const { id, outcome, answer } = input;
  const actor = `carrier:${row.carrier}`;
  const { applied } = await applyOutcome(tx, { id, outcome, source: "callback", actor, answer });
  return { applied };
}

import type { DeliveredEsim } from "../esims/delivered.ts";
import { Problem } from "../kernel/problem.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import type { NotToppableReason } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";

const words: Readonly<Record<NotToppableReason, string>> = {
  expired: "it has expired",
  suspended: "it is suspended",
  not_supported: "nothing can be bought for it where it comes from",
};

/** Why an eSIM cannot be topped up at this moment; null: it can, if there is a product that fits. */
export async function whyNotToppable(
  q: Read,
  { esim }: Pick<DeliveredEsim, "esim">,
): Promise<NotToppableReason | null> {
  const { status, expires_at, environment, partner_id } = esim;
  if (environment === null || partner_id === null) throw new Error("an eSIM in stock belongs to no partner");
  // The job that expires eSIMs runs once a minute.
  const ended = expires_at !== null && expires_at <= (await nowOf(q, { environment, partner_id }));
  if (status === "expired" || ended) return "expired";
  if (status === "suspended") return "suspended";
  // What was in stock has no supplier that could add to it.
  return environment === "production" && esim.supplier === null ? "not_supported" : null;
}

/** Throws `esim_not_toppable`, with `reason`. */
export async function requireToppable(q: Read, known: Pick<DeliveredEsim, "esim">): Promise<void> {
  const reason = await whyNotToppable(q, known);
  if (reason !== null) throw notToppable(known.esim.iccid, reason);
}

/** The refusal of a top-up. */
export function notToppable(iccid: string, reason: NotToppableReason): Problem {
  return new Problem("esim_not_toppable", `eSIM ${iccid} cannot be topped up: ${words[reason]}.`, {
    members: { reason },
  });
}

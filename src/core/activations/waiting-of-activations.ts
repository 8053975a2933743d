import { carrierRows } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Waiting } from "../kernel/waiting.ts";
import { partnerById } from "../partners/partner.ts";
import type { Read } from "../store/store.ts";
import { type ActivationRow, requireActivation } from "./activation.ts";
import { stateOf } from "./states.ts";

/** The columns that the answer depends on. */
export type WaitingColumns = Pick<
  ActivationRow,
  "status" | "processing_status" | "carrier_prefix" | "due_at" | "deadline_at" | "queued_at" | "updated_at"
>;

/**
 * A function that returns the person whom a request waits for and since when, on this snapshot; null: it has ended,
 * waits for its date, or goes on by itself.
 */
export async function waitingOfActivations(q: Read): Promise<(row: WaitingColumns) => Waiting | null> {
  const manual = new Set(
    (await carrierRows(q)).flatMap(({ adapter, prefix }) => (adapter === "manual" ? [prefix] : [])),
  );
  return (row) => {
    const state = stateOf(row);
    if (state === "manual_required") {
      return { for: "operator", act: "retry", on: "carrier", since: isoTime(row.updated_at) };
    }
    if (state !== "processing" && state !== "confirmed") return null;
    const since = isoTime(row.queued_at ?? row.updated_at);
    if (manual.has(row.carrier_prefix)) return { for: "operator", act: "complete", on: "carrier", since };
    // Its carrier was worked by hand then and no longer is.
    const idle = row.due_at === null && row.deadline_at === null;
    return idle ? { for: "operator", act: "retry", on: "carrier", since } : null;
  };
}

/** What only the operator sees of a request: whose it is, and for whom it waits. Throws `not_found`. */
export async function activationInside(q: Read, id: string) {
  // An id that a look-up answered.
  const row = await requireActivation(q, id as ActivationId);
  const { slug: partner } = await partnerById(q, row.partner_id);
  return { partner, environment: row.environment, waiting: (await waitingOfActivations(q))(row) };
}

export type ActivationInside = Awaited<ReturnType<typeof activationInside>>;

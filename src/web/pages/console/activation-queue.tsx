import { activationQueue, type QueueEntry } from "../../../core/activations/queue.ts";
import type { Column, Filter } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import type { Cell } from "../../parts/words.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { partnerFilter, queueOf, waitingWords } from "./all-partners.ts";
import { personWords } from "./masked.ts";

/** A state as people know it: two of them are only in how far the carrier is. */
export function statusOf({ status, processing_status }: { status: string; processing_status: string }): Cell {
  return { status: processing_status === "manual_required" || status === "processing" ? processing_status : status };
}

/** What requests wait for: each is a queue of its own. */
export const waitingFilter = {
  ...{ name: "waiting", label: "Waiting for" },
  options: ["staff", ["carrier", "the carrier"]],
} as const satisfies Filter;

const queueColumns: readonly Column<QueueEntry>[] = [
  { title: "ICCID", cell: (one) => ({ text: one.iccid, to: `/activations/${one.id}` }) },
  { title: "Partner", cell: (one) => `${one.partner}${one.environment === "sandbox" ? " (sandbox)" : ""}` },
  { title: "Date", cell: (one) => one.activation_date },
  { title: "Status", cell: statusOf },
  { title: "Customer", cell: (one) => personWords(one.customer_name) },
  { title: "Carrier", cell: (one) => one.carrier },
  { title: "Why", cell: (one) => one.error_type },
  { title: "Waiting", cell: (one) => waitingWords(one.waiting) },
  { title: "Next attempt", cell: (one) => ({ time: one.next_at }) },
  { title: "Since", cell: (one) => ({ time: one.queued_at }) },
];

/** What waits for staff, or is with carriers. */
export async function queuePage(visit: ConsoleVisit, waiting: "staff" | "carrier"): Promise<Shown> {
  return listed(visit, {
    title: waiting === "staff" ? "Activations for staff" : "Activations at carriers",
    path: "/activations",
    caption: "Requests that are being worked, oldest first",
    columns: queueColumns,
    filters: [await partnerFilter(visit), waitingFilter],
    read: queueOf<QueueEntry>(
      visit,
      `console_activations_${waiting}`,
      (limit, after) => visit.store.list(activationQueue, { limit, after }),
      (one) => (one.waiting !== null) === (waiting === "staff"),
    ),
    empty: waiting === "staff" ? "Nothing waits for staff." : "Nothing is with carriers.",
  });
}

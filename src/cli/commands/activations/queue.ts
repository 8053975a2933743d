import type { QueueEntry } from "../../../core/activations/queue.ts";
import { isoTime, systemClock } from "../../../core/kernel/clock.ts";
import { command } from "../../frame/command.ts";
import { printQueue, queueOptions } from "../../frame/list-command.ts";
import { text } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, statusPaint, waitingWords } from "../../output/words.ts";

const columns: Column<QueueEntry>[] = [
  { title: "since", value: (one) => moment(one.queued_at), spare: 3 },
  { title: "partner", value: (one) => one.partner, spare: 4 },
  { title: "carrier", value: (one) => one.carrier, shrinks: true, spare: true },
  { title: "iccid", value: (one) => one.iccid },
  {
    title: "status",
    value: (one) => one.processing_status,
    paint: (sheet, one) => statusPaint(sheet, one.processing_status === "manual_required" ? "failed" : "processing"),
  },
  { title: "customer", value: (one) => one.customer_name, shrinks: true },
  { title: "why", value: (one) => one.error_type, shrinks: true, spare: 2 },
  {
    title: "waiting",
    value: ({ waiting }) => waitingWords(waiting, isoTime(systemClock.now())),
    wraps: true,
    spare: 5,
  },
  { title: "next attempt", value: (one) => moment(one.next_at), spare: true },
  { title: "id", value: (one) => one.id, spare: 1 },
];

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only. Identity is shown one by one, by `activations show ID --reveal`.",
  json:
    "{data: [{id, partner, environment, iccid, carrier, activation_date, customer_name, status, processing_status, " +
    "error_type, error_message, faults, next_at, queued_at, waiting: {for, act, on, since} or null, …}], count}",
  examples: ["activations queue", "activations queue --carrier 896103 --all --json"],
  args: {},
  options: {
    carrier: text("--carrier <prefix>", "only this carrier's, by its ICCID prefix"),
    ...queueOptions("requests"),
  },
  async run(context, { carrier, limit, all }) {
    const { activationQueue } = await import("../../../core/activations/queue.ts");
    type After = Parameters<typeof activationQueue>[1]["after"];
    const look = { columns, empty: "Nothing is with carriers, and nothing waits for staff." };
    return printQueue(context, { limit, all }, look, (store, count, after: After) =>
      store.read(activationQueue, { carrier, limit: count, after }),
    );
  },
});

import type { QueueEntry } from "../../../core/activations/queue.ts";
import { command } from "../../frame/command.ts";
import { flag, integer, text } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, statusPaint } from "../../output/words.ts";

const PAGE = 200;

const columns: Column<QueueEntry>[] = [
  { title: "since", value: (one) => moment(one.queued_at) },
  { title: "partner", value: (one) => one.partner },
  { title: "carrier", value: (one) => one.carrier, shrinks: true, spare: true },
  { title: "iccid", value: (one) => one.iccid },
  {
    title: "status",
    value: (one) => one.processing_status,
    paint: (sheet, one) => statusPaint(sheet, one.processing_status === "manual_required" ? "failed" : "processing"),
  },
  { title: "customer", value: (one) => one.customer_name, shrinks: true },
  { title: "why", value: (one) => one.error_type },
  { title: "next attempt", value: (one) => moment(one.next_at), spare: true },
  { title: "id", value: (one) => one.id },
];

export default command({
  target: "operator",
  effects: "Reads only. Identity is shown one by one, by `activations show ID --reveal`.",
  json:
    "{data: [{id, partner, environment, iccid, carrier, activation_date, customer_name, status, processing_status, " +
    "error_type, error_message, faults, next_at, queued_at, …}], count}",
  examples: ["activations queue", "activations queue --carrier 896103 --all --json"],
  args: {},
  options: {
    carrier: text("--carrier <prefix>", "only this carrier's, by its ICCID prefix"),
    limit: integer("--limit <n>", "requests to show (default 100)", { min: 1, max: 10_000 }),
    all: flag("--all", "every one of them"),
  },
  async run(context, { carrier, limit, all }) {
    const { activationQueue } = await import("../../../core/activations/queue.ts");
    const most = all ? Number.POSITIVE_INFINITY : (limit ?? 100);
    const entries: QueueEntry[] = [];
    let after: Parameters<typeof activationQueue>[1]["after"] | null;
    await context.withStore(async ({ store }) => {
      while (entries.length < most && after !== null) {
        const ask = { carrier, limit: Math.min(PAGE, most - entries.length), after };
        const page: Awaited<ReturnType<typeof activationQueue>> = await store.read(activationQueue, ask);
        entries.push(...page.data);
        after = page.next;
      }
    });
    if (after) context.note("There is more: --all shows everything.");
    return listResult(entries, columns, "Nothing is with carriers, and nothing waits for staff.");
  },
});

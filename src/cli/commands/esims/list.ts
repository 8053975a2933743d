import type { ListedEsim } from "../../../core/esims/list-all.ts";
import { systemClock } from "../../../core/kernel/clock.ts";
import { esimStatuses } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { listOverAll, overAllOptions, timesOf } from "../../frame/over-all.ts";
import { usageError } from "../../kernel/errors.ts";
import { choice, text } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, statusPaint } from "../../output/words.ts";
import { operatorOnly } from "../../place/place.ts";

export default command({
  target: "partner",
  shows: "rows",
  effects:
    "Reads only, on the operator's data: sold eSIMs of all partners or of one, the newest order first, without " +
    "their codes. --since and --until are when they were ordered. Those of the sandbox are not in it: they are " +
    "computed.",
  json:
    "{data: [{iccid, id, partner, status, sku, order_id, order_number, external_order_id, customer_name, " +
    "assigned_at, activated_at, expires_at, used_mb}], count, pagination}",
  examples: ["esims list --since 7d", "esims list --partner acme --status active --all --csv"],
  args: {},
  options: {
    ...overAllOptions,
    status: choice("--status <status>", esimStatuses, "only this status"),
    sku: text("--sku <sku>", "only of this product"),
  },
  async run(context, { status, sku, ...given }) {
    const where = await context.where();
    if (where.kind === "server") throw operatorOnly(where);
    if (context.actsFor.sandbox) throw usageError("eSIMs of the sandbox are not listed.", "Use orders esims ORDER.");
    const { listAllEsims } = await import("../../../core/esims/list-all.ts");
    const filter = { status, sku, ...timesOf(given, systemClock.now()), customer: given.customer };
    return listOverAll(context, given, { filter, page: listAllEsims, columns, empty: "No eSIMs." });
  },
});

const columns: Column<ListedEsim>[] = [
  { title: "iccid", value: (esim) => esim.iccid },
  { title: "partner", value: (esim) => esim.partner },
  { title: "status", value: (esim) => esim.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "sku", value: (esim) => esim.sku },
  { title: "order", value: (esim) => esim.order_number },
  { title: "customer", value: (esim) => esim.customer_name, shrinks: true, spare: true },
  { title: "assigned", value: (esim) => moment(esim.assigned_at), spare: true },
  { title: "expires", value: (esim) => moment(esim.expires_at), spare: true },
];

import type { StuckTopup } from "../../../core/topups/operator.ts";
import { operatorList } from "../../frame/list-command.ts";
import { integer } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, shown } from "../../output/words.ts";

const columns: Column<StuckTopup>[] = [
  { title: "id", value: (one) => one.id },
  { title: "partner", value: (one) => one.partner },
  { title: "iccid", value: (one) => one.iccid },
  { title: "product", value: (one) => one.product_sku, shrinks: true },
  { title: "price", value: (one, sheet) => sheet.money(one.price_cents, one.currency), align: "right" },
  { title: "supplier", value: (one) => shown(one.supplier) },
  { title: "why", value: (one) => shown(one.reason), wraps: true },
  { title: "created", value: (one) => moment(one.created_at), spare: 1 },
];

export default operatorList({
  effects:
    "Top-ups that may have been bought, and whose supplier says no more. See them in its own portal, then `topups " +
    "complete`, `fail` or `retry`.",
  json:
    "{data: [{id, partner, iccid, product_sku, price_cents, currency, supplier, supplier_sku, reason, created_at}], " +
    "count}",
  examples: ["topups list", "topups list --json"],
  options: {
    limit: integer("--limit <n>", "most that are listed, oldest first (default 100)", { min: 1, max: 10_000 }),
  },
  columns,
  empty: "No top-up waits for you.",
  async read(store, { limit = 100 }) {
    const { stuckTopups } = await import("../../../core/topups/operator.ts");
    return store.read(stuckTopups, { limit });
  },
});

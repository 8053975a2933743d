import { costWords } from "../../../core/supply/source-words.ts";
import type { Source } from "../../../core/supply/sources.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";

/** The keys of a source's JSON. */
export const SOURCE_JSON =
  "{sku, supplier, supplier_sku, days (of a daily plan), priority, cost, currency, status (active | gone)}";

export const sourceColumns: Column<Source>[] = [
  { title: "priority", value: ({ priority }) => priority, align: "right" },
  { title: "supplier", value: ({ supplier }) => supplier },
  { title: "plan", value: ({ supplier_sku }) => supplier_sku, shrinks: true },
  { title: "days", value: ({ days }) => days, align: "right", spare: 1 },
  { title: "cost", value: costWords, align: "right" },
  {
    title: "status",
    value: ({ status }) => status,
    paint: ({ paint }, { status }) => (status === "gone" ? paint.yellow : paint.reset),
  },
];

/** One source, as `add` prints it. */
export function sourceResult(source: Source): Result {
  return recordResult(source, () => ({
    sku: source.sku,
    supplier: source.supplier,
    plan: source.supplier_sku,
    ...(source.days === null ? {} : { days: String(source.days) }),
    priority: String(source.priority),
    cost: costWords(source) ?? "not known",
  }));
}

import type { Supplier } from "../../../core/suppliers/supplier.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, shown, yesNo } from "../../output/words.ts";

/** The keys of a supplier's JSON. */
export const SUPPLIER_JSON =
  "{name, adapter, url, insecure, has_secret, to, has_template, paused: {reason, since} or null, " + "updated_at}";

export const supplierColumns: Column<Supplier>[] = [
  { title: "name", value: (supplier) => supplier.name },
  { title: "adapter", value: (supplier) => supplier.adapter },
  {
    title: "reached at",
    value: (supplier) => shown(supplier.adapter === "email" ? supplier.to : supplier.url),
    shrinks: true,
  },
  {
    title: "paused",
    value: ({ paused }) => paused?.reason ?? null,
    paint: ({ paint }) => paint.yellow,
    shrinks: true,
  },
  { title: "secret", value: (supplier) => yesNo(supplier.has_secret) },
  { title: "own template", value: (supplier) => yesNo(supplier.has_template), spare: 1 },
  { title: "changed", value: (supplier) => moment(supplier.updated_at), spare: true },
];

/** How a supplier is reached, for people. */
export function supplierFields(supplier: Supplier): Record<string, string> {
  const { paused } = supplier;
  return {
    name: supplier.name,
    adapter: supplier.adapter,
    url: shown(supplier.url),
    to: shown(supplier.to),
    secret: yesNo(supplier.has_secret),
    "own template": yesNo(supplier.has_template),
    ...(paused === null ? {} : { paused: `since ${moment(paused.since)}: ${shown(paused.reason)}` }),
  };
}

/** One supplier, as all verbs that change one print it. */
export function supplierResult(supplier: Supplier): Result {
  return recordResult(supplier, () => supplierFields(supplier));
}

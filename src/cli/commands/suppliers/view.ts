import type { Supplier } from "../../../core/suppliers/supplier.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, shown, yesNo } from "../../output/words.ts";

/** The keys of a supplier's JSON. */
export const SUPPLIER_JSON = "{name, adapter, url, insecure, has_secret, to, has_template, updated_at}";

export const supplierColumns: Column<Supplier>[] = [
  { title: "name", value: (supplier) => supplier.name },
  { title: "adapter", value: (supplier) => supplier.adapter },
  {
    title: "reached at",
    value: (supplier) => shown(supplier.adapter === "email" ? supplier.to : supplier.url),
    shrinks: true,
  },
  { title: "secret", value: (supplier) => yesNo(supplier.has_secret) },
  { title: "own template", value: (supplier) => yesNo(supplier.has_template), spare: 1 },
  { title: "changed", value: (supplier) => moment(supplier.updated_at), spare: true },
];

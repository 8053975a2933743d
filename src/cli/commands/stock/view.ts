import type { StockLevel } from "../../../core/esims/stock.ts";
import type { Column } from "../../output/sheet.ts";
import { statusPaint } from "../../output/words.ts";

/** The keys of the stock lists. */
export const STOCK_JSON = "{data: [{product_id, sku, name, status, available}], count}";

export const stockColumns: Column<StockLevel>[] = [
  { title: "sku", value: (level) => level.sku },
  { title: "name", value: (level) => level.name, shrinks: true },
  { title: "product", value: (level) => level.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "available", value: (level) => level.available, align: "right" },
];

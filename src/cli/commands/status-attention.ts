import type { PlatformStatus } from "../../core/insight/status.ts";
import type { Sheet } from "../output/sheet.ts";
import { moment, statusPaint } from "../output/words.ts";

/** Most rows of a table that may be long: a screen is for a glance. */
const MOST_ROWS = 5;

/** A table for each thing that needs attention; a line when there is none. */
export function attention(sheet: Sheet, status: PlatformStatus): string[] {
  const { failing_endpoints, low_stock, low_wallets, held_products, open_refunds } = status;
  const parts: string[] = [];
  if (held_products.length > 0) parts.push(held(sheet, held_products));
  if (open_refunds.length > 0) parts.push(refunds(sheet, open_refunds));
  if (failing_endpoints.length > 0) parts.push(endpoints(sheet, failing_endpoints));
  if (low_stock.length > 0) parts.push(stock(sheet, low_stock));
  if (low_wallets.length > 0) parts.push(wallets(sheet, low_wallets));
  return parts.length > 0 ? parts : [sheet.paint.green("No endpoint fails; stock and wallets are not low.")];
}

function endpoints(sheet: Sheet, rows: PlatformStatus["failing_endpoints"]): string {
  return sheet.table(
    [
      { title: "failing endpoint", value: ({ id }) => id },
      { title: "partner", value: ({ partner }) => partner },
      { title: "status", value: (one) => one.status, paint: (to, one) => statusPaint(to, one.status) },
      { title: "since", value: (one) => (one.failing_since === null ? null : moment(one.failing_since)) },
      { title: "failed", value: (one) => one.failed_attempts, align: "right" },
      { title: "given up", value: (one) => one.consecutive_failures, align: "right", spare: 1 },
      { title: "last code", value: (one) => one.last_status_code, align: "right" },
      { title: "url", value: ({ url }) => url, shrinks: true },
    ],
    rows,
    "",
  );
}

function held(sheet: Sheet, rows: PlatformStatus["held_products"]): string {
  const shown = rows.slice(0, MOST_ROWS);
  const ways = "esimctl products update SKU --price A sets a price, --status active accepts the margin";
  const table = sheet.table(
    [
      { title: "held for its margin", value: ({ sku }) => sku },
      { title: "supplier", value: ({ supplier }) => supplier },
      { title: "price", value: (one, { money }) => money(one.price_cents, one.currency), align: "right" },
      { title: "cost", value: ({ cost, cost_currency }) => cost && `${cost} ${cost_currency}`, align: "right" },
      { title: "since", value: ({ since }) => moment(since), spare: true },
    ],
    shown,
    "",
  );
  return `${table}\n${sheet.paint.dim(`${moreWords(rows.length)}${ways}`)}`;
}

/** How many rows are not shown. */
function moreWords(rows: number): string {
  return rows > MOST_ROWS ? `and ${rows - MOST_ROWS} more; ` : "";
}

function refunds(sheet: Sheet, rows: PlatformStatus["open_refunds"]): string {
  const ways = "esimctl esims refund ICCID --granted repays what the supplier's people granted; or --denied";
  const table = sheet.table(
    [
      { title: "refund requested", value: ({ iccid }) => iccid },
      { title: "supplier", value: ({ supplier }) => supplier },
      { title: "as", value: ({ reference }) => reference },
      { title: "partner", value: ({ partner }) => partner, spare: true },
      { title: "since", value: ({ since }) => moment(since) },
    ],
    rows.slice(0, MOST_ROWS),
    "",
  );
  return `${table}\n${sheet.paint.dim(`${moreWords(rows.length)}${ways}`)}`;
}

function stock(sheet: Sheet, rows: PlatformStatus["low_stock"]): string {
  const least = rows.toSorted((a, b) => a.available - b.available).slice(0, MOST_ROWS);
  const table = sheet.table(
    [
      { title: "low stock", value: ({ sku }) => sku },
      { title: "eSIMs", value: ({ available }) => available, align: "right" },
    ],
    least,
    "",
  );
  const more = rows.length - least.length;
  return more === 0 ? table : `${table}\n${sheet.paint.dim(`and ${more} more: esimctl stock low`)}`;
}

function wallets(sheet: Sheet, rows: PlatformStatus["low_wallets"]): string {
  return sheet.table(
    [
      { title: "low wallet", value: ({ partner }) => partner },
      { title: "balance", value: (one, { money }) => money(one.balance_cents, one.currency), align: "right" },
      {
        title: "charged in 7 days",
        value: (one, { money }) => money(one.charged_7d_cents, one.currency),
        align: "right",
      },
    ],
    rows,
    "",
  );
}

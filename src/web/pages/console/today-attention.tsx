import type { ComponentChildren } from "preact";
import type { PlatformStatus } from "../../../core/insight/status.ts";
import { table } from "../../parts/shown.tsx";
import type { Cell } from "../../parts/words.ts";
import type { ConsoleVisit } from "../../session/visit.ts";

const HELD = "Off sale since their cost rose: another price, or the status active, puts them on sale again";
const REQUESTED = "Refunds that people at suppliers decide: the eSIM's page settles them";

/** A table for each thing that needs attention, of what the role may see. */
export function attention(visit: ConsoleVisit, status: PlatformStatus): ComponentChildren {
  const { may } = visit;
  const partner = ({ partner: slug }: { partner: string }): Cell =>
    may("partners.read") ? { text: slug, to: `/partners/${slug}` } : slug;
  const outages = oldestFirst(status.outages, ({ since }) => since);
  const endpoints = oldestFirst(status.failing_endpoints, (one) => one.failing_since ?? one.last_at ?? "");
  const stock = status.low_stock.toSorted((a, b) => a.available - b.available);
  return [
    may("suppliers.read") &&
      table(visit, { title: "Suppliers and carriers that do not answer", rows: outages }, [
        { title: "Name", cell: ({ name }) => ({ text: name, to: "/suppliers" }) },
        { title: "Kind", cell: (one) => one.kind },
        { title: "Since", cell: (one) => ({ time: one.since }) },
        { title: "Failures", right: true, cell: (one) => one.failures },
        { title: "Waiting", right: true, cell: (one) => one.waiting },
        { title: "Next attempt", cell: (one) => ({ time: one.next_attempt_at }) },
        { title: "Last error", cell: (one) => one.last_error },
      ]),
    may("partners.read") &&
      table(visit, { title: "Failed deliveries", caption: "Endpoints that fail", rows: endpoints }, [
        { title: "Partner", cell: (one) => partner(one) },
        { title: "Address", cell: ({ url, id }) => ({ text: url, to: `/deliveries?status=failed&endpoint=${id}` }) },
        { title: "Status", cell: (one) => ({ status: one.status }) },
        { title: "Since", cell: (one) => ({ time: one.failing_since }) },
        { title: "Last answer", right: true, cell: (one) => one.last_status_code },
      ]),
    may("catalog.read") &&
      table(visit, { id: "held", title: "Held for their margin", caption: HELD, rows: status.held_products }, [
        { title: "Product", cell: ({ sku, id }) => ({ text: sku, to: `/catalog/${id}` }) },
        { title: "Supplier", cell: (one) => one.supplier },
        { title: "Price", right: true, cell: (one) => ({ money: one.price_cents, currency: one.currency }) },
        { title: "Cost", right: true, cell: ({ cost, cost_currency }) => cost && `${cost} ${cost_currency}` },
        { title: "Since", cell: (one) => ({ time: one.since }) },
      ]),
    may("esims.read") &&
      table(visit, { title: "Refunds requested", caption: REQUESTED, rows: status.open_refunds }, [
        { title: "eSIM", cell: ({ iccid }) => ({ text: iccid, to: `/esims/${iccid}` }) },
        { title: "Supplier", cell: (one) => one.supplier },
        { title: "As", cell: (one) => one.reference },
        { title: "Partner", cell: (one) => one.partner },
        { title: "Since", cell: (one) => ({ time: one.since }) },
      ]),
    may("stock.read") &&
      table(visit, { title: "Low stock", rows: stock, whole: "/stock" }, [
        { title: "Product", cell: ({ sku }) => ({ text: sku, to: `/stock?sku=${encodeURIComponent(sku)}` }) },
        { title: "eSIMs left", right: true, cell: (one) => one.available },
      ]),
    may("money.read") &&
      table(visit, { title: "Low wallets", rows: status.low_wallets }, [
        { title: "Partner", cell: (one) => partner(one) },
        { title: "Balance", right: true, cell: (one) => ({ money: one.balance_cents, currency: one.currency }) },
        {
          title: "Charged in 7 days",
          right: true,
          cell: (one) => ({ money: one.charged_7d_cents, currency: one.currency }),
        },
      ]),
  ];
}

function oldestFirst<T>(rows: readonly T[], since: (row: T) => string): T[] {
  return rows.toSorted((a, b) => (since(a) < since(b) ? -1 : 1));
}

import { isoTime, systemClock } from "../../../core/kernel/clock.ts";
import type { ListedOrder } from "../../../core/orders/list-all.ts";
import { orderStatuses } from "../../../core/store/schema/values.ts";
import type { Order } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing } from "../../client/pages.ts";
import { noSuchSku, productId } from "../../client/product-id.ts";
import { allPartnersOptions, isOfAllPartners, isoOf, listOfAllPartners, timesOf } from "../../frame/all-partners.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { choice, excluding, text } from "../../kernel/input.ts";
import { dated } from "../../kernel/input-time.ts";
import type { Column } from "../../output/sheet.ts";
import { waitingWords } from "../../output/words.ts";
import { orderColumns } from "./order.ts";

export default command({
  target: "partner",
  shows: "rows",
  effects:
    "Reads only. On the operator's data, without --partner: the orders of all partners, each with whom it waits for.",
  json:
    "the API's body: {data: [{id, order_number, status, total_price_cents, currency, …}], pagination}; over all " +
    "partners also count, and of each order {partner, environment, waiting: {for, act, on, since} or null}",
  examples: [
    "orders list --since 2d",
    "orders list --status waiting_review --all --csv",
    'orders list --customer "mia chen"',
    "orders list --partner acme --sku ES-GLB-1GB-7D --since 2026-03-01",
  ],
  args: {},
  options: {
    ...allPartnersOptions,
    status: choice("--status <status>", orderStatuses, "only this status"),
    sku: text("--sku <sku>", "only with a line of this product"),
    createdAfter: excluding(
      dated(
        "--created-after <time>",
        "only created at this time or later: 2026-03-01 (UTC), or with a zone; as --since",
      ),
      "--since",
    ),
    createdBefore: excluding(dated("--created-before <time>", "only created before this time; as --until"), "--until"),
    externalOrderId: text("--external-order-id <id>", "of one partner: only the bulk order with this id"),
    product: excluding(text("--product-id <id-or-sku>", "of one partner: only with a line of this product"), "--sku"),
  },
  async run(context, { createdAfter, createdBefore, externalOrderId, product, ...given }) {
    const times = timesOf(given, systemClock.now());
    const since = times.since ?? createdAfter;
    const until = times.until ?? createdBefore;
    const { status, sku } = given;
    if (await isOfAllPartners(context, given)) {
      refuseOfOnePartner({ externalOrderId, product });
      const { listAllOrders } = await import("../../../core/orders/list-all.ts");
      if (sku !== undefined) await requireProduct(context, sku);
      const filter = { status, sku, since, until, customer: given.customer };
      const columns = allColumns(isoTime(systemClock.now()));
      return listOfAllPartners(context, given, { filter, page: listAllOrders, columns, empty: "No orders." });
    }
    const filters = { status, created_after: isoOf(since), created_before: isoOf(until), externalOrderId };
    return ofOnePartner(context, given, { ...filters, product: product ?? sku });
  },
});

type Given = Parameters<typeof listOfAllPartners>[1];

interface ApiFilters {
  status: string | undefined;
  created_after: string | undefined;
  created_before: string | undefined;
  externalOrderId: string | undefined;
  product: string | undefined;
}

/** Throws `not_found` for a SKU that no product has. */
async function requireProduct(context: Context, sku: string): Promise<void> {
  const { findProductBySku } = await import("../../../core/catalog/product.ts");
  const product = await context.withStore(({ store }) => store.read(findProductBySku, sku));
  if (product === null) throw noSuchSku(sku);
}

/** The API's own list of one partner's orders. */
async function ofOnePartner(context: Context, given: Given, filters: ApiFilters) {
  const { product, externalOrderId, ...query } = filters;
  const { limit, cursor, all } = given;
  return context.withApi(async (api) => {
    const product_id = product === undefined ? undefined : await productId(api, product);
    const narrowed = { limit, cursor, ...query, external_order_id: externalOrderId, product_id };
    const asked = { path: apiPath`/orders`, query: narrowed, all };
    return context.print(dataListing<Order>(api, asked, { columns: orderColumns, empty: "No orders." }));
  });
}

/** Throws a usage error for a filter that a list over all partners has another option for. */
function refuseOfOnePartner({ externalOrderId, product }: { externalOrderId?: unknown; product?: unknown }): void {
  if (externalOrderId !== undefined) {
    const hint = "esimctl orders show BOOKING_NUMBER finds it over all partners; or add --partner.";
    throw usageError("--external-order-id is one partner's.", hint);
  }
  if (product !== undefined)
    throw usageError("--product-id is for one partner's list.", "Use --sku, or add --partner.");
}

function allColumns(now: string): Column<ListedOrder>[] {
  return [
    { title: "partner", value: (order) => order.partner },
    ...orderColumns,
    { title: "customer", value: (order) => order.customer?.name ?? null, shrinks: true, spare: true },
    { title: "waiting", value: (order) => waitingWords(order.waiting, now), wraps: true, spare: true },
  ];
}

import type { ListedEsim } from "../../../core/esims/list-all.ts";
import { isoTime, systemClock } from "../../../core/kernel/clock.ts";
import { esimStatuses } from "../../../core/store/schema/values.ts";
import type { OwnEsim } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { orderId } from "../../client/identifiers.ts";
import { dataListing } from "../../client/pages.ts";
import { productId } from "../../client/product-id.ts";
import { allPartnersOptions, isOfAllPartners, listOfAllPartners, timesOf } from "../../frame/all-partners.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { choice, text, type ValuesOf } from "../../kernel/input.ts";
import { dated } from "../../kernel/input-time.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, statusPaint } from "../../output/words.ts";

const options = {
  ...allPartnersOptions,
  status: choice("--status <status>", esimStatuses, "only this status"),
  sku: text("--sku <sku>", "only of this product"),
  expiresBefore: dated("--expires-before <time>", "only with an expiry before this time: 2026-03-01 (UTC)"),
  order: text("--order <id>", "at a server or with --sandbox: only of this order, by any identifier"),
};

export default command({
  target: "partner",
  shows: "rows",
  effects:
    "Reads only. On the operator's data: sold eSIMs of all partners or of one, the newest order first, without their " +
    "codes; --since and --until are when they were ordered. At a server, and with --sandbox: one partner's delivered " +
    "eSIMs with their codes; the operator's reading of codes is audited.",
  json:
    "on the operator's data {data: [{iccid, id, partner, status, sku, order_id, order_number, external_order_id, " +
    "customer_name, assigned_at, activated_at, expires_at, used_mb}], count, pagination}; else the API's body: " +
    "{data: [{iccid, activation_code, status, order_number, product_sku, expires_at, data_usage, …}], pagination}",
  examples: [
    "esims list --since 7d",
    "esims list --partner acme --status active --all --csv",
    "esims list --expires-before 2026-04-01",
  ],
  args: {},
  options,
  async run(context, given) {
    const atServer = (await context.where()).kind === "server";
    if (atServer || context.actsFor.sandbox) return ofOnePartner(context, given, atServer);
    if (given.order !== undefined) {
      throw usageError("--order is for a server or --sandbox.", "Here: esimctl orders esims ORDER.");
    }
    const { status, sku, expiresBefore, customer } = given;
    const { listAllEsims } = await import("../../../core/esims/list-all.ts");
    const filter = { status, sku, expiresBefore, ...timesOf(given, systemClock.now()), customer };
    return listOfAllPartners(context, given, { filter, page: listAllEsims, columns: allColumns, empty: "No eSIMs." });
  },
});

/** The API's own list of one partner's eSIMs. */
async function ofOnePartner(context: Context, given: ValuesOf<typeof options>, atServer: boolean) {
  const { limit, cursor, all, status, sku, order, expiresBefore, since, until, customer } = given;
  // At a server this throws for a filter by customer.
  if (await isOfAllPartners(context, { customer })) {
    throw usageError("With --sandbox the list is one partner's.", "Add --partner, and leave --customer out.");
  }
  if (since !== undefined || until !== undefined) {
    const where = atServer ? "at a server" : "with --sandbox";
    throw usageError(`--since and --until do not apply ${where}.`, "Narrow it by --status, --sku or --order.");
  }
  return context.withApi(async (api) => {
    const expires_before = expiresBefore === undefined ? undefined : isoTime(expiresBefore);
    const product_id = sku === undefined ? undefined : await productId(api, sku);
    const order_id = order === undefined ? undefined : await orderId(api, order);
    const query = { limit, cursor, status, product_id, order_id, expires_before };
    const asked = { path: apiPath`/esims`, query, all };
    return context.print(dataListing<OwnEsim>(api, asked, { columns: ownColumns, empty: "No eSIMs." }));
  });
}

const allColumns: Column<ListedEsim>[] = [
  { title: "iccid", value: (esim) => esim.iccid },
  { title: "partner", value: (esim) => esim.partner },
  { title: "status", value: (esim) => esim.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "sku", value: (esim) => esim.sku },
  { title: "order", value: (esim) => esim.order_number },
  { title: "customer", value: (esim) => esim.customer_name, shrinks: true, spare: true },
  { title: "assigned", value: (esim) => moment(esim.assigned_at), spare: true },
  { title: "expires", value: (esim) => moment(esim.expires_at), spare: true },
];

const ownColumns: Column<OwnEsim>[] = [
  { title: "iccid", value: (esim) => esim.iccid },
  { title: "status", value: (esim) => esim.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "sku", value: (esim) => esim.product_sku },
  { title: "order", value: (esim) => esim.order_number },
  { title: "used", value: ({ data_usage: { used_mb, total_mb } }) => `${used_mb} of ${total_mb} MB`, spare: 2 },
  { title: "assigned", value: (esim) => moment(esim.created_at), spare: true },
  { title: "expires", value: (esim) => moment(esim.expires_at), spare: 1 },
];

import { dataWords } from "../../../core/catalog/data-words.ts";
import { findProductBySku } from "../../../core/catalog/product.ts";
import { toEsim, visibleEsim } from "../../../core/esims/esim.ts";
import { type ListedOwnEsim, listOwnEsims, type OwnEsimsFilter } from "../../../core/esims/list-own.ts";
import { type EsimAsked, requireOwnEsim, toEsimStatus } from "../../../core/esims/status.ts";
import type { OrderId, ProductId } from "../../../core/kernel/brand.ts";
import { startOfCivilDate } from "../../../core/kernel/civil-date.ts";
import { isUuid } from "../../../core/kernel/is-uuid.ts";
import { orderIdByNumber, requireOrder } from "../../../core/orders/order.ts";
import { auditCodesRead } from "../../../core/orders/read-audit.ts";
import { esimStatuses } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { pageShown, record } from "../../parts/shown.tsx";
import { momentsIn, type TimelineMoment } from "../../parts/timeline.tsx";
import { type Cell, plain } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { type PortalVisit, partIn, type Shown } from "../../session/visit.ts";
import { esimSendPages, sendingShown } from "./esim-send.tsx";
import { esimTopupPages, topupsShown } from "./esim-topup.tsx";
import { historyShown } from "./history.tsx";
import { asNotFound } from "./own-pages.ts";

type Usage = { used_mb: number; total_mb: number };

/** The data of an eSIM as a bar: "1.2 GB of 5 GB". */
function usageCell({ used_mb, total_mb }: Usage): Cell {
  const text = total_mb === 0 ? `${dataWords(used_mb)} used` : `${dataWords(used_mb)} of ${dataWords(total_mb)}`;
  return { meter: used_mb, most: total_mb, text };
}

const columns: readonly Column<ListedOwnEsim>[] = [
  { title: "ICCID", cell: (one) => ({ text: one.iccid, to: `/esims/${one.iccid}` }) },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Product", cell: (one) => one.product_sku },
  { title: "Order", cell: (one) => ({ text: one.order_number, to: `/orders/${one.order_id}` }) },
  { title: "Data used", cell: (one) => usageCell(one.data_usage) },
  { title: "Activated", cell: (one) => ({ time: one.activated_at }) },
  { title: "Expires", cell: (one) => ({ time: one.expires_at }) },
];

type Named = Omit<OwnEsimsFilter, "orderId" | "productId"> & { order: string | undefined; sku: string | undefined };

/** Own eSIMs, of an order by its number or ID and of a product by its SKU; a name that is unknown finds none. */
async function namedEsims(q: Read, { order, sku, ...filter }: Named) {
  const isId = isUuid(order ?? "");
  // An ID or a number of another partner finds none either: the list is that of its owner.
  const orderId = order === undefined || isId ? (order as OrderId | undefined) : await orderIdByNumber(q, order);
  const productId: ProductId | null | undefined =
    sku === undefined ? undefined : ((await findProductBySku(q, sku))?.id ?? null);
  if (orderId === null || productId === null) return { data: [], pagination: { next_cursor: null } };
  return listOwnEsims(q, { ...filter, orderId, productId });
}

function esimsPage(visit: PortalVisit): Promise<Shown> {
  const { owner, store, zone, base, context } = visit;
  const { publicUrl } = context.addresses;
  return listed(visit, {
    ...{ path: "/esims", title: "eSIMs", columns },
    filters: [
      { name: "status", label: "Status", options: esimStatuses },
      { name: "order", label: "Order" },
      { name: "product", label: "Product (SKU)" },
      { name: "expires_before", label: "Expires before", type: "date" },
    ],
    read: (page, { status, order, product: sku, expires_before: day }) => {
      const expiresBefore = day === undefined ? undefined : startOfCivilDate(day, zone);
      return store.list(namedEsims, { ...owner, publicUrl, status, order, sku, expiresBefore, ...page });
    },
    empty: "No eSIMs here. Leave a filter out to see more.",
    none: "No eSIMs yet. They are listed once their order is fulfilled.",
    above: visit.may("orders.write") && (
      <p>
        <a href={`${base}/orders`}>Order eSIMs</a>, or <a href={`${base}/orders/bulk`}>many from a file</a>.
      </p>
    ),
  });
}

/** An own eSIM on one snapshot, with its codes where they may be seen. Throws `not_found`, for another's alike. */
async function readEsim(q: Read, { publicUrl, ...asked }: EsimAsked & { publicUrl: string }) {
  const found = await requireOwnEsim(q, asked).catch(asNotFound);
  const { esim, line, product } = found;
  const status = toEsimStatus(found);
  const isVisible = (await visibleEsim(q, esim.id)) !== null;
  const delivered = toEsim(q, publicUrl, esim, product.activation_policy);
  const { order_number } = await requireOrder(q, status.order_id);
  const own = { id: esim.id, status, line, order_number, since: delivered.created_at };
  return { ...own, delivered: isVisible ? delivered : null };
}

type ReadEsim = Awaited<ReturnType<typeof readEsim>>;

async function esimPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner, context } = visit;
  const asked = { ...owner, iccid: partIn(visit, "iccid"), publicUrl: context.addresses.publicUrl };
  const one = await store.read(readEsim, asked);
  const { status, line, order_number, delivered } = one;
  const sending = await sendingShown(visit, status.iccid);
  if (visit.viewing && delivered !== null) {
    await visit.write(auditCodesRead, { partnerId: owner.partnerId, orderId: status.order_id, codes: 1 });
  }
  const { country, network, updated_at } = status.location ?? { country: null, network: null, updated_at: null };
  return pageShown(visit, `eSIM ${status.iccid}`, [
    record(visit, [
      ["Status", { status: status.status }],
      ["Product", `${line.product_name} (${line.product_sku})`],
      ["Order", { text: order_number, to: `/orders/${status.order_id}` }],
      ["Data used", usageCell(status.data_usage)],
      ["Usage reported", { time: status.data_usage.updated_at }],
      ["Activation", status.activation_policy && plain(status.activation_policy)],
      ["Activated", { time: status.activated_at }],
      ["Expires", { time: status.expires_at }],
      ["Last seen in", [country, network].filter(Boolean).join(", ")],
      ["Last seen at", { time: updated_at }],
      ["EID", delivered?.eid ?? null],
    ]),
    delivered === null ? (
      <p class="alert">Its codes are shown once its whole order line is delivered.</p>
    ) : (
      <Install delivered={delivered} iccid={status.iccid} />
    ),
    await topupsShown(visit, status.iccid),
    sending.shown,
    await historyShown(visit, one, [...momentsOf(one, context.clock.now()), ...sending.moments]),
  ]);
}

/** What a traveler installs it by. Its addresses are links of this server, whatever name it is opened by. */
function Install({ delivered, iccid }: { delivered: NonNullable<ReadEsim["delivered"]>; iccid: string }) {
  if (delivered.unreadable === true) {
    return <p class="alert bad">The codes of this eSIM cannot be read. Ask the operator.</p>;
  }
  const { activation_code, smdp_address, matching_id, confirmation_code } = delivered;
  const [qr, installs] = [delivered.qr_code_url, delivered.install_url].map((url) => new URL(url).pathname);
  return (
    <section>
      <h2>Install it</h2>
      <p>
        <img class="qr" src={qr} width="240" height="240" alt={`QR code of ${iccid}`} />
      </p>
      <p>
        <a href={installs}>Install page</a>, to be sent to the traveler:
      </p>
      <pre data-copy="">{delivered.install_url}</pre>
      <p>Activation code:</p>
      <pre data-copy="">{activation_code}</pre>
      <p class="hint">
        By hand: SM-DP+ address {smdp_address}, code {matching_id}
        {confirmation_code !== null && `, confirmation code ${confirmation_code}`}.
      </p>
    </section>
  );
}

/** What happened to it so far. */
function momentsOf({ status, since }: ReadEsim, now: number): TimelineMoment[] {
  const { activated_at, expires_at, data_usage, location } = status;
  const known = momentsIn("esim", [
    [since, "delivered"],
    [activated_at, "activated"],
    [data_usage.updated_at, `${dataWords(data_usage.used_mb)} used, as the network reports`],
    [location?.updated_at ?? null, "seen in a network"],
    [expires_at, "expired"],
  ]);
  return known.filter(({ at }) => Date.parse(at) <= now);
}

export const esimPages = [
  portalPage({ path: "/esims", needs: "esims.read", show: esimsPage }),
  portalPage({ path: "/esims/:iccid", needs: "esims.read", show: esimPage }),
  ...esimTopupPages,
  ...esimSendPages,
];

import type { ComponentChildren } from "preact";
import { staffNames } from "../../../core/accounts/staff-names.ts";
import { sendableEsim } from "../../../core/after-sale/sendable-esim.ts";
import type { DeliveredEsim } from "../../../core/esims/delivered.ts";
import { esimTransitions } from "../../../core/esims/esim.ts";
import { activateEsim, suspendEsim } from "../../../core/esims/life.ts";
import { type ListedEsim, listAllEsims } from "../../../core/esims/list-all.ts";
import { type EsimStatusRecord, toEsimStatus } from "../../../core/esims/status.ts";
import { findStory } from "../../../core/find/find.ts";
import { canMove } from "../../../core/kernel/state-machine.ts";
import { requireOrder } from "../../../core/orders/order.ts";
import { partnerById } from "../../../core/partners/partner.ts";
import { esimStatuses } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { actPage } from "../../parts/act-page.tsx";
import { Time } from "../../parts/cell.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { changeWords, type Fields, links, pageShown, record } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn, type Shown } from "../../session/visit.ts";
import { sendPage, sentOf, sentShown } from "../esim-send.tsx";
import { dayFilters, overAll, partnerFilter } from "./all-partners.ts";
import { settleLinks } from "./esim-settle.tsx";
import { esimOf, supplierLinks } from "./esim-supplier.tsx";
import { timelineShown } from "./history.tsx";
import { personWords, withoutPhones } from "./masked.ts";

const columns: readonly Column<ListedEsim>[] = [
  { title: "ICCID", cell: (one) => ({ text: one.iccid, to: `/esims/${one.iccid}` }) },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Product", cell: (one) => one.sku },
  { title: "Order", cell: (one) => ({ text: one.order_number, to: `/orders/${one.order_id}` }) },
  { title: "Customer", cell: (one) => personWords(one.customer_name) },
  { title: "Used (MB)", right: true, cell: (one) => one.used_mb },
  { title: "Assigned", cell: (one) => ({ time: one.assigned_at }) },
  { title: "Expires", cell: (one) => ({ time: one.expires_at }) },
];

async function esimsPage(visit: ConsoleVisit): Promise<Shown> {
  const { environment: _, ...over } = await overAll(visit);
  return listed(visit, {
    title: "eSIMs",
    path: "/esims",
    caption: "Sold eSIMs of all partners, the newest order first",
    columns,
    filters: [
      await partnerFilter(visit),
      { name: "status", label: "Status", options: esimStatuses },
      { name: "sku", label: "Product (SKU)" },
      ...dayFilters,
    ],
    read: (page, { status, sku }) => visit.store.list(listAllEsims, { ...over, status, sku, ...page }),
    empty: "No eSIMs here. Leave a filter out to see more.",
    none: "No eSIM is sold yet.",
  });
}

/** An eSIM of any partner or in stock, on one snapshot. */
async function seenEsim(q: Read, iccid: string) {
  const { found, esim } = await esimOf(q, iccid);
  const partner = esim.partner_id === null ? null : (await partnerById(q, esim.partner_id)).slug;
  const order = esim.order_id === null ? null : await requireOrder(q, esim.order_id);
  const { timeline } = await findStory(q, esim.id);
  const sold = order === null ? null : { id: order.id, number: order.order_number };
  const sent = found === null ? null : await sentOf(q, { iccid, owner: null });
  return { iccid, status: esim.status, environment: esim.environment, partner, order: sold, found, sent, timeline };
}

type SeenEsim = Awaited<ReturnType<typeof seenEsim>>;

const seenIn = (visit: ConsoleVisit): Promise<SeenEsim> => visit.store.read(seenEsim, partIn(visit, "iccid"));

async function esimPage(visit: ConsoleVisit): Promise<Shown> {
  const seen = await seenIn(visit);
  const { iccid, status, environment, found, sent, timeline } = seen;
  const isReal = found !== null && environment === "production" && visit.may("esims.write");
  const possible = isReal ? acts.filter(({ to }) => canMove(esimTransitions, status, to)) : [];
  const buttons = possible.map(({ verb, title }) => [`/esims/${iccid}/${verb}`, title] as const);
  const atSupplier = [...(await supplierLinks(visit, seen)), ...(await settleLinks(visit, iccid))];
  const body = (
    <>
      {record(visit, esimFields(seen), links(visit, [...buttons, ...atSupplier]))}
      {found !== null && usage(toEsimStatus(found))}
      {sent !== null && (await sendingShown(visit, sent))}
      {await timelineShown(visit, withoutPhones(timeline))}
    </>
  );
  return pageShown(visit, `eSIM ${iccid}`, body);
}

async function sendingShown(visit: ConsoleVisit, sent: Awaited<ReturnType<typeof sentOf>>): Promise<ComponentChildren> {
  const actors = sent.mails.map(({ created_by }) => created_by);
  return sentShown(visit, sent, { names: await visit.store.read(staffNames, actors), may: visit.may("esims.write") });
}

function esimFields({ status, environment, partner, order, found }: SeenEsim): Fields {
  return [
    ["Status", order === null ? "in stock" : { status }],
    ["Partner", partner === null ? null : `${partner} (${environment})`],
    ["Order", order === null ? null : { text: order.number, to: `/orders/${order.id}` }],
    ...(found === null ? [] : deliveredFields(found)),
  ];
}

function deliveredFields(found: DeliveredEsim): Fields {
  const { activated_at, expires_at, activation_policy, location } = toEsimStatus(found);
  return [
    ["Product", `${found.line.product_name} (${found.line.product_sku})`],
    ["Activation policy", activation_policy],
    ["Activated", { time: activated_at }],
    ["Expires", { time: expires_at }],
    ["Seen in", location === null ? null : [location.country, location.network].filter(Boolean).join(", ")],
    ["Seen at", { time: location?.updated_at ?? null }],
  ];
}

function usage({ data_usage: { used_mb, total_mb, remaining_mb } }: EsimStatusRecord) {
  return (
    <p>
      <progress value={used_mb} max={Math.max(1, total_mb)} aria-label="Data used" />
      {` ${used_mb} of ${total_mb} MB used, ${remaining_mb} MB left`}
    </p>
  );
}

const acts = [
  { verb: "activate", title: "Activate", to: "active", command: activateEsim },
  { verb: "suspend", title: "Suspend", to: "suspended", command: suspendEsim },
] as const;

const moving = ({ verb, title, command }: (typeof acts)[number]) =>
  actPage({
    ...{ verb, button: title, bad: verb === "suspend", fields: [], command },
    read: seenIn,
    at: ({ iccid }) => `/esims/${iccid}`,
    title: ({ iccid }) => `${title}: eSIM ${iccid}`,
    input: (_visit, { iccid }) => ({ iccid }),
    foresee: (after, { status }, { zone }) => [
      <p>{changeWords(status, after.status)}</p>,
      after.expires_at !== null && (
        <p>
          Its validity {verb === "suspend" ? "runs on meanwhile and " : ""}ends at{" "}
          <Time at={after.expires_at} zone={zone} />.
        </p>
      ),
    ],
    done: ({ status }, { iccid }) => `eSIM ${iccid} is ${status}.`,
  });

const sendingPage = sendPage<ConsoleVisit>({
  ownerOf: () => null,
  read: (visit) => visit.store.read(sendableEsim, { iccid: partIn(visit, "iccid"), owner: null }),
});

export const consoleEsimPages = [
  consolePage({ path: "/esims", needs: "esims.read", show: esimsPage }),
  consolePage({ path: "/esims/:iccid", needs: "esims.read", show: esimPage }),
  consolePage({ ...sendingPage, needs: "esims.write" }),
  ...acts.map((one) => consolePage({ path: `/esims/:iccid/${one.verb}`, needs: "esims.write", ...moving(one) })),
];

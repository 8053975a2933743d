import { type Activation, showActivation } from "../../../core/activations/activation.ts";
import { listActivations } from "../../../core/activations/list.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import { activationStatuses, processingStatuses } from "../../../core/store/schema/values.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { type Fields, LinkButton, links, pageShown, record } from "../../parts/shown.tsx";
import { momentsIn } from "../../parts/timeline.tsx";
import { plain } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
import { changeFields, changeForm, changePage } from "../activation-changes.tsx";
import { identityPage } from "../activation-identity.tsx";
import { historyShown } from "./history.tsx";

const columns: Column<Activation>[] = [
  { title: "ICCID", cell: (one) => ({ text: one.iccid, to: `/activations/${one.id}` }) },
  { title: "Date", cell: (one) => one.activation_date },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Carrier", cell: (one) => one.carrier },
  { title: "Customer", cell: (one) => one.customer_name },
  { title: "Plan", cell: (one) => one.plan_name },
  { title: "Submitted", cell: (one) => ({ time: one.created_at }) },
];

/** Where the chosen requests are sent to be moved or cancelled. */
const CHANGE = "/activations/change";

function activationsPage(visit: PortalVisit): Promise<Shown> {
  const mayWrite = visit.may("activations.write");
  return listed(visit, {
    ...{ path: "/activations", title: "Activations", columns },
    filters: [
      { name: "status", label: "Status", options: activationStatuses },
      { name: "processing_status", label: "With the carrier", options: processingStatuses },
      { name: "activation_from", label: "From", type: "date" },
      { name: "activation_to", label: "To", type: "date" },
      { name: "iccid", label: "ICCID" },
    ],
    read: (page, chosen) => visit.store.list(listActivations, { ...visit.owner, ...chosen, ...page }),
    empty: "No requests here. Leave a filter out to see more.",
    none: "No requests yet. Submit one.",
    ...(mayWrite && { select: { name: "id", valueOf: ({ id }) => id, acts: changeFields(visit), to: CHANGE } }),
    above: (
      <div class="acts">
        {mayWrite && <LinkButton visit={visit} to="/activations/new" words="New activation" main />}
        {mayWrite && <LinkButton visit={visit} to="/activations/file" words="From a file" />}
        <LinkButton visit={visit} to="/activations/calendar" words="Calendar" />
      </div>
    ),
  });
}

async function activationPage(visit: PortalVisit): Promise<Shown> {
  const one = await visit.store.read(showActivation, { owner: visit.owner, id: idIn<ActivationId>(visit) });
  const changes = one.status === "pending" && visit.may("activations.write");
  const acts = changes && links(visit, [[`/activations/${one.id}/identity`, "Correct the identity"]]);
  const fields: Fields = [
    ["Status", { status: one.status }],
    ["With the carrier", { status: one.processing_status }],
    ["Activation date (Sydney)", one.activation_date],
    ["Carrier", one.carrier],
    ["Goes out", plain(one.processing_mode)],
    ["Customer", one.customer_name],
    ["Customer's e-mail", one.customer_email],
    ["Mobile number", one.mobile_number],
    ["Confirmation", one.confirmation_number],
    ["Plan", one.plan_name],
    ["Note", one.note],
    ["Error", one.error_message ?? one.error_type],
    ["ID", one.id],
  ];
  return pageShown(visit, `Activation of ${one.iccid}`, [
    record(visit, fields, acts),
    changes && changeForm(visit, CHANGE, [one.id]),
    await historyShown(
      visit,
      one,
      momentsIn("activation", [
        [one.created_at, "requested"],
        [one.submitted_at, "sent to the carrier"],
        [one.confirmed_at, "confirmed by the carrier"],
        [one.activated_at, "activated"],
        [one.status === "failed" ? one.updated_at : null, "failed"],
        [one.cancelled_at, "cancelled"],
      ]),
    ),
  ]);
}

const changing = changePage<PortalVisit>({
  path: CHANGE,
  ownerOf: ({ owner }) => owner,
  whose: [{ title: "Customer", cell: ({ before }) => before?.customer_name ?? null }],
});

export const activationPages = [
  portalPage({ path: "/activations", needs: "activations.read", show: activationsPage }),
  portalPage({ path: "/activations/:id", needs: "activations.read", show: activationPage }),
  portalPage({ ...identityPage<PortalVisit>(({ owner }) => owner), needs: "activations.write" }),
  portalPage({ ...changing, needs: "activations.write" }),
];

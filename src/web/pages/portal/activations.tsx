import { type Activation, showActivation } from "../../../core/activations/activation.ts";
import { listActivations } from "../../../core/activations/list.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import { activationStatuses, processingStatuses } from "../../../core/store/schema/values.ts";
import { type FieldOf, fieldsShown, formShown } from "../../parts/act-form.tsx";
import { ActButton, Submit } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { LinkButton, pageShown, record } from "../../parts/shown.tsx";
import { momentsIn } from "../../parts/timeline.tsx";
import { plain } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
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
export const CHANGE = "/activations/change";

/** The list of requests: also what is shown again where a change of many is refused. */
export function activationsPage(visit: PortalVisit): Promise<Shown> {
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
    empty: "No requests here. Submit one, or leave a filter out.",
    ...(mayWrite && { select: { name: "id", valueOf: ({ id }) => id, acts: actsOnChosen(visit), to: CHANGE } }),
    above: (
      <div class="acts">
        {mayWrite && <LinkButton visit={visit} to="/activations/new" words="New activation" main />}
        {mayWrite && <LinkButton visit={visit} to="/activations/file" words="From a file" />}
        <LinkButton visit={visit} to="/activations/calendar" words="Calendar" />
      </div>
    ),
  });
}

/** What can be done with the rows that are ticked. */
function actsOnChosen(visit: PortalVisit) {
  const byDays: FieldOf = { name: "days", label: "or by days", type: "number", min: "-366", max: "366" };
  return (
    <>
      {fieldsShown(visit, [{ name: "date", label: "Move to", type: "date" }, byDays])}
      <Submit name="act" value="move">
        Move
      </Submit>
      <Submit name="act" value="cancel" kind="bad">
        Cancel
      </Submit>
    </>
  );
}

async function activationPage(visit: PortalVisit): Promise<Shown> {
  const one = await visit.store.read(showActivation, { owner: visit.owner, id: idIn<ActivationId>(visit) });
  return pageShown(visit, `Activation of ${one.iccid}`, [
    record(visit, [
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
    ]),
    one.status === "pending" && visit.may("activations.write") && changesOf(visit, one),
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

function changesOf(visit: PortalVisit, { id, activation_date: value }: Activation) {
  const date = { name: "date", label: "New date (Sydney)", type: "date", value, required: true };
  return (
    <section>
      <h2>Change it</h2>
      {formShown(visit, { to: CHANGE, class: "acts", hidden: { id, act: "move" }, fields: [date], submit: "Move" })}
      <ActButton visit={visit} to={CHANGE} label="Cancel it" kind="bad" hidden={{ id, act: "cancel" }} />
      <p class="hint">
        What comes of it is shown before anything is done. With the carrier it can no longer be changed.
      </p>
    </section>
  );
}

export const activationPages = [
  portalPage({ path: "/activations", needs: "activations.read", show: activationsPage }),
  portalPage({ path: "/activations/:id", needs: "activations.read", show: activationPage }),
];

import { type Activation, showActivation } from "../../../core/activations/activation.ts";
import { listActivations } from "../../../core/activations/list.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import { isCivilDate } from "../../../core/kernel/calendar-day.ts";
import { activationStatuses, processingStatuses } from "../../../core/store/schema/values.ts";
import { ActButton, Field, Form, Submit } from "../../parts/form.tsx";
import { type Column, Record } from "../../parts/list.tsx";
import { momentsIn, Timeline } from "../../parts/timeline.tsx";
import { plain } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { chosen, field, idIn, optionalField, type PortalVisit, type Shown } from "../../session/visit.ts";
import { ownList, titled } from "./own-pages.tsx";

const columnsOf = ({ base }: PortalVisit): Column<Activation>[] => [
  { title: "ICCID", cell: (one) => ({ text: one.iccid, href: `${base}/activations/${one.id}` }) },
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
  const { query, owner, store } = visit;
  const day = (name: string) => (isCivilDate(field(query, name)) ? field(query, name) : undefined);
  const filter = {
    ...owner,
    iccid: optionalField(query, "iccid"),
    status: chosen(query, "status", activationStatuses),
    processing_status: chosen(query, "processing_status", processingStatuses),
    activation_from: day("activation_from"),
    activation_to: day("activation_to"),
  };
  const mayWrite = visit.may("activations.write");
  return ownList(visit, {
    path: "/activations",
    title: "Activations",
    columns: columnsOf(visit),
    filters: [
      { name: "status", label: "Status", options: activationStatuses },
      { name: "processing_status", label: "With the carrier", options: processingStatuses },
      { name: "activation_from", label: "From", type: "date" },
      { name: "activation_to", label: "To", type: "date" },
      { name: "iccid", label: "ICCID" },
    ],
    read: (page) => store.list(listActivations, { ...filter, ...page }),
    empty: "No requests here. Submit one, or leave a filter out.",
    select: mayWrite && { name: "id", valueOf: ({ id }) => id, acts: <ActsOnChosen visit={visit} />, to: CHANGE },
    above: <Ways visit={visit} mayWrite={mayWrite} />,
  });
}

function Ways({ visit: { base }, mayWrite }: { visit: PortalVisit; mayWrite: boolean }) {
  const ways = { ...(mayWrite ? { new: "New activation", file: "From a file" } : {}), calendar: "Calendar" };
  return (
    <div class="acts">
      {Object.entries(ways).map(([path, words]) => (
        <a class={path === "new" ? "button" : "button plain"} href={`${base}/activations/${path}`}>
          {words}
        </a>
      ))}
    </div>
  );
}

/** What can be done with the rows that are ticked. */
function ActsOnChosen({ visit }: { visit: PortalVisit }) {
  return (
    <>
      <Field visit={visit} name="date" label="Move to" type="date" />
      <Field visit={visit} name="days" label="or by days" type="number" min="-366" max="366" />
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
  const body = (
    <>
      <section>
        <Record
          visit={visit}
          fields={[
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
          ]}
        />
      </section>
      {one.status === "pending" && visit.may("activations.write") && <Changes visit={visit} one={one} />}
      <Timeline visit={visit} moments={momentsOf(one)} />
    </>
  );
  return titled(visit, `Activation of ${one.iccid}`, { body });
}

function Changes({ visit, one }: { visit: PortalVisit; one: Activation }) {
  return (
    <section>
      <h2>Change it</h2>
      <Form visit={visit} to={CHANGE} class="acts">
        <input type="hidden" name="id" value={one.id} />
        <input type="hidden" name="act" value="move" />
        <Field visit={visit} name="date" label="New date (Sydney)" type="date" value={one.activation_date} required />
        <Submit>Move</Submit>
      </Form>
      <ActButton visit={visit} to={CHANGE} label="Cancel it" kind="bad" hidden={{ id: one.id, act: "cancel" }} />
      <p class="hint">
        What comes of it is shown before anything is done. With the carrier it can no longer be changed.
      </p>
    </section>
  );
}

function momentsOf(one: Activation) {
  return momentsIn("activation", [
    [one.created_at, "requested"],
    [one.submitted_at, "sent to the carrier"],
    [one.confirmed_at, "confirmed by the carrier"],
    [one.activated_at, "activated"],
    [one.cancelled_at, "cancelled"],
  ]);
}

export const activationPages = [
  portalPage({ path: "/activations", needs: "activations.read", show: activationsPage }),
  portalPage({ path: "/activations/:id", needs: "activations.read", show: activationPage }),
];

import { requireActivation, toActivation } from "../../../core/activations/activation.ts";
import { type ListedActivation, listAllActivations } from "../../../core/activations/list-all.ts";
import { activationInside } from "../../../core/activations/waiting-of-activations.ts";
import { findStory } from "../../../core/find/find.ts";
import { maskedNumberOf } from "../../../core/find/subjects.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import { activationStatuses } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { formShown } from "../../parts/act-form.tsx";
import { ActButton } from "../../parts/form.tsx";
import { type Column, List, type ListOf, PAGE_ROWS } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { type Fields, links, pageShown, record } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import {
  type ConsoleVisit,
  chosen,
  field,
  idIn,
  optionalField,
  requiredField,
  type Shown,
} from "../../session/visit.ts";
import { changeFields, changeForm, changePage } from "../activation-changes.tsx";
import { identityPage } from "../activation-identity.tsx";
import { activationActPages, handLinks } from "./activation-acts.tsx";
import { queuePage, statusOf, waitingFilter } from "./activation-queue.tsx";
import { dayFilters, environmentFilter, overAll, partnerFilter, waitingWords } from "./all-partners.ts";
import { timelineShown } from "./history.tsx";
import { personWords, phoneWords, withoutPhones } from "./masked.ts";

/** Where the chosen requests are sent to be moved or cancelled. */
const CHANGE = "/activations/bulk";

/** The states of docs/states.md: two of them are only in how far the carrier is. */
const statuses = [...activationStatuses, "confirmed", "manual_required"] as const;

function statusQuery(status: (typeof statuses)[number] | undefined) {
  return status === "confirmed" || status === "manual_required" ? { processing_status: status } : { status };
}

const columns: readonly Column<ListedActivation>[] = [
  { title: "ICCID", cell: (one) => ({ text: one.iccid, to: `/activations/${one.id}` }) },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Date", cell: (one) => one.activation_date },
  { title: "Status", cell: statusOf },
  { title: "Customer", cell: (one) => personWords(one.customer_name) },
  { title: "Carrier", cell: (one) => one.carrier },
  { title: "Waiting", cell: (one) => waitingWords(one.waiting) },
  { title: "Submitted", cell: (one) => ({ time: one.created_at }) },
];

/** What the rows of a list can be chosen for. */
function selecting(visit: ConsoleVisit): Pick<ListOf<ListedActivation>, "select"> {
  if (!visit.may("activations.write")) return {};
  return { select: { name: "id", valueOf: (one) => one.id, acts: changeFields(visit), to: CHANGE } };
}

async function activationsPage(visit: ConsoleVisit): Promise<Shown> {
  const { query, store } = visit;
  const waiting = chosen(query, "waiting", ["staff", "carrier"]);
  if (waiting !== undefined) return queuePage(visit, waiting);
  const over = await overAll(visit);
  return listed(visit, {
    title: "Activations",
    path: "/activations",
    caption: "Activations of all partners",
    columns,
    filters: [
      await partnerFilter(visit),
      { name: "status", label: "Status", options: statuses },
      { name: "from", label: "Activation date from", type: "date" },
      { name: "to", label: "Activation date to", type: "date" },
      { name: "iccid", label: "ICCID" },
      waitingFilter,
      environmentFilter,
      ...dayFilters,
    ],
    read: (page, { status, from: activation_from, to: activation_to, iccid }) => {
      const dates = { activation_from, activation_to };
      return store.list(listAllActivations, { ...over, ...statusQuery(status), ...dates, iccid, ...page });
    },
    empty: "No activations here. Leave a filter out to see more.",
    none: "No activations in production yet. Those of the sandbox are listed by its filter.",
    above: searchForm(visit),
    ...selecting(visit),
  });
}

/** Names stay out of addresses and logs: what is searched for is sent in the body. */
function searchForm(visit: ConsoleVisit) {
  const hint = "An e-mail address, or how the words of a name begin.";
  const fields = [
    { name: "customer", label: "Customer", hint, required: true },
    { name: "environment", label: "In", options: [["", "production"], "sandbox"] as const },
  ];
  const form = { to: "/activations/search", class: "filters", fields, submit: "Search" };
  return <section>{formShown(visit, form)}</section>;
}

async function searchPage(visit: ConsoleVisit): Promise<Shown> {
  const { form, store } = visit;
  const customer = requiredField(form, "customer");
  const cursor = optionalField(form, "cursor");
  const filter = { ...(await overAll(visit)), customer, limit: PAGE_ROWS, cursor };
  const { data, pagination } = await store.list(listAllActivations, filter);
  const title = "Activations of a customer";
  const next = { customer, environment: field(form, "environment"), cursor: pagination.next_cursor ?? "" };
  const body = (
    <>
      {searchForm(visit)}
      <List
        {...{ visit, path: "/activations", caption: title, columns, rows: data, csv: false }}
        empty="No activation names such a customer."
        {...selecting(visit)}
      />
      {next.cursor !== "" &&
        formShown(visit, { to: "/activations/search", fields: [], hidden: next, submit: "Next page" })}
    </>
  );
  return pageShown(visit, title, body);
}

/** A request with all that the operator sees of it, on one snapshot. Throws `not_found`. */
async function seenActivation(q: Read, id: ActivationId) {
  const row = await requireActivation(q, id);
  const { timeline } = await findStory(q, id);
  const passport = maskedNumberOf(q, row);
  return { activation: toActivation(q, row), inside: await activationInside(q, id), passport, timeline };
}

type Seen = Awaited<ReturnType<typeof seenActivation>>;

async function activationPage(visit: ConsoleVisit): Promise<Shown> {
  const seen = await visit.store.read(seenActivation, idIn(visit) as ActivationId); // the database decides
  const { activation, inside, timeline } = seen;
  const { id, iccid, status } = activation;
  const writes = visit.may("activations.write");
  const changes = writes && status === "pending";
  const acts = [
    ...(writes ? handLinks(visit, activation, inside) : []),
    ...(changes ? links(visit, [[`/activations/${id}/identity`, "Correct the identity"]]) : []),
    visit.may("reveal") && <ActButton visit={visit} to={`/activations/${id}/reveal`} label="Reveal the identity" />,
  ];
  const body = (
    <>
      {record(visit, activationFields(seen), acts)}
      {changes && changeForm(visit, CHANGE, [id])}
      {await timelineShown(visit, withoutPhones(timeline))}
    </>
  );
  return pageShown(visit, `SIM ${iccid}`, body);
}

const activationFields = ({ activation: one, inside, passport }: Seen): Fields => [
  ["Status", statusOf(one)],
  ["Waiting", waitingWords(inside.waiting)],
  ["Partner", `${inside.partner} (${inside.environment})`],
  ["Activation date", `${one.activation_date} (Sydney), ${one.processing_mode}`],
  ["Customer", personWords(one.customer_name)],
  ["Passport", passport],
  ["Carrier", one.carrier],
  ["Plan", one.plan_name],
  ["Note", one.note],
  ["Mobile number", phoneWords(one.mobile_number)],
  ["Confirmation", one.confirmation_number],
  ["Error", one.error_type === null ? null : `${one.error_type}: ${one.error_message ?? ""}`],
  ["Created", { time: one.created_at }],
  ["Submitted", { time: one.submitted_at }],
  ["Activated", { time: one.activated_at }],
  ["Cancelled", { time: one.cancelled_at }],
  ["ID", one.id],
];

const changing = changePage<ConsoleVisit>({
  path: CHANGE,
  ownerOf: () => null,
  whose: [
    { title: "Partner", cell: ({ partner }) => partner },
    { title: "Customer", cell: ({ before }) => personWords(before?.customer_name ?? null) },
  ],
});

const needs = "activations.read";
const toList = () => ({ to: "/activations" });

export const consoleActivationPages = [
  consolePage({ path: "/activations", needs, show: activationsPage }),
  consolePage({ path: "/activations/search", needs, show: toList, act: searchPage, again: activationsPage }),
  consolePage({ path: "/activations/:id", needs, show: activationPage }),
  consolePage({ ...identityPage<ConsoleVisit>(() => null), needs: "activations.write" }),
  consolePage({ ...changing, needs: "activations.write", show: toList }),
  ...activationActPages,
];

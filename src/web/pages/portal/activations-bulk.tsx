import { type Activation, activationById, toActivation } from "../../../core/activations/activation.ts";
import { type BulkOutcome, reasonOf } from "../../../core/activations/bulk.ts";
import { cancelActivation } from "../../../core/activations/cancel.ts";
import { rescheduleActivation } from "../../../core/activations/reschedule.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import { isCivilDate, laterBy } from "../../../core/kernel/calendar-day.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Owner } from "../../../core/kernel/owner.ts";
import { invalid, notFound, Problem } from "../../../core/kernel/problem.ts";
import type { Command, Read } from "../../../core/store/store.ts";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { type Column, Rows } from "../../parts/list.tsx";
import { backLink, pageShown } from "../../parts/shown.tsx";
import { plain } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { choiceField, field, fields, integerField, type PortalVisit, type Shown } from "../../session/visit.ts";
import { activationsPage, CHANGE } from "./activations.tsx";

/** Most requests of one change (contract: Limits). */
const MOST = 200;

/** A request that is to be moved to a date, or cancelled. */
interface Item {
  id: ActivationId;
  date: string | null;
}

/** The owner's requests with these IDs, by ID. */
async function ownActivations(q: Read, { owner, ids }: { owner: Owner; ids: readonly ActivationId[] }) {
  const found: [ActivationId, Activation][] = [];
  for (const id of ids) {
    const row = await activationById(q, id);
    const isOwn = row?.partner_id === owner.partnerId && row.environment === owner.environment;
    if (row !== null && isOwn) found.push([id, toActivation(q, row)]);
  }
  return found;
}

/** The requests as they are. */
type Known = ReadonlyMap<ActivationId, Activation>;

/** The date of each as the person chose it: that of a day, or so many days later. Throws `validation`. */
function dateIn({ form }: PortalVisit): (known: Activation | undefined) => string | null {
  const date = field(form, "date");
  if (field(form, "days") === "") {
    if (!isCivilDate(date)) throw invalid({ date: ["must be a day, or give a number of days"] });
    return () => date;
  }
  if (date !== "") throw invalid({ days: ["and a date cannot both be given"] });
  const days = integerField(form, "days");
  if (Math.abs(days) > 366) throw invalid({ days: ["must be at most 366"] });
  return (known) => (known === undefined ? null : laterBy(known.activation_date, days));
}

/**
 * The dates that were shown, which are carried to the confirmation: by days a request would move again, were the form
 * sent twice.
 */
function movesIn({ form }: PortalVisit): Item[] {
  return fields(form, "move").map((text) => {
    const [id = "", date = ""] = text.split(" ");
    if (!isCivilDate(date)) throw invalid({ move: ["is out of date: choose the requests again"] });
    return { id: id as ActivationId, date }; // any text: an unknown ID is not found
  });
}

type Run = <I, O>(command: Command<I, O>, input: I) => Promise<O>;

/** What becomes of each, in the order given and each for itself. */
async function outcomesOf({ owner, actor, form }: PortalVisit, run: Run, items: readonly Item[]) {
  const isMove = field(form, "act") === "move";
  const outcomes: BulkOutcome[] = [];
  for (const { id, date } of items) {
    const asked = { owner, target: { id }, actor };
    try {
      const activation = isMove
        ? await run(rescheduleActivation, { ...asked, edit: { requested_activation_date: date ?? undefined } })
        : await run(cancelActivation, { ...asked, reason: null });
      outcomes.push({ activation_id: id, status: isMove ? "rescheduled" : "cancelled", activation });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      outcomes.push({ activation_id: id, status: "failed", reason: reasonOf(error) });
    }
  }
  return outcomes;
}

/** The codes of refusals in words. */
const whys: Readonly<Record<string, string>> = {
  not_found: "there is no such request",
  not_cancellable: "only a pending request can be cancelled",
  not_editable: "only a pending request can be moved",
  invalid_activation_date: "the date is past in Sydney, or too far ahead",
  passport_expired: "the passport expires before the new date",
  identity_unreadable: "its identity data cannot be read",
};

function whyWords(reason: string): string {
  const [code = "", status] = reason.split(":");
  const words = whys[code] ?? plain(code);
  return status === undefined ? words : `it is ${plain(status)}: ${words}`;
}

/** The requests as they were, and what becomes of each. */
function OutcomeRows({ visit, outcomes, known }: { visit: PortalVisit; outcomes: BulkOutcome[]; known: Known }) {
  const of = ({ activation_id: id }: BulkOutcome) => (id === undefined ? undefined : known.get(id));
  const columns: Column<BulkOutcome>[] = [
    { title: "ICCID", cell: (one) => of(one)?.iccid ?? one.activation_id ?? null },
    { title: "Customer", cell: (one) => of(one)?.customer_name ?? null },
    { title: "Status", cell: (one) => (of(one) ? { status: of(one)?.status ?? "" } : null) },
    { title: "Date now", cell: (one) => of(one)?.activation_date ?? null },
    {
      title: "Then",
      cell: ({ status, activation }) => (status === "cancelled" ? status : (activation?.activation_date ?? null)),
    },
    { title: "Refused", cell: ({ reason }) => (reason === undefined ? null : whyWords(reason)) },
  ];
  return <Rows visit={visit} caption="Requests" rows={outcomes} empty="None." columns={columns} />;
}

/** Shows what would come of it, and once that is confirmed does it. */
async function change(visit: PortalVisit): Promise<Shown> {
  const { form, store, owner, request } = visit;
  const isMove = choiceField(form, "act", ["move", "cancel"]) === "move";
  const moves = isMove ? movesIn(visit) : [];
  // Any text may be sent; what is not an own request's ID is not found.
  const ids = moves.length > 0 ? moves.map(({ id }) => id) : ([...new Set(fields(form, "id"))] as ActivationId[]);
  if (ids.length === 0) throw invalid({ id: ["none is chosen: tick the requests first"] });
  if (ids.length > MOST) throw invalid({ id: [`must be at most ${MOST}`] });
  const known: Known = new Map(await store.read(ownActivations, { owner, ids }));
  if (known.size === 0) throw notFound("activation");
  const dateOf = isMove && moves.length === 0 ? dateIn(visit) : () => null;
  const items = moves.length > 0 ? moves : ids.map((id) => ({ id, date: dateOf(known.get(id)) }));
  const run: Run = isConfirmed(visit)
    ? (command, input) => store.write(command, input, request.id, owner)
    : (command, input) => store.rehearse(command, input);
  const outcomes = await outcomesOf(visit, run, items);
  return outcomesShown(visit, { isMove, items, outcomes, known });
}

interface Outcomes {
  isMove: boolean;
  items: Item[];
  outcomes: BulkOutcome[];
  known: Known;
}

function outcomesShown(visit: PortalVisit, { isMove, items, outcomes, known }: Outcomes): Shown {
  const refused = outcomes.filter(({ status }) => status === "failed");
  const done = outcomes.length - refused.length;
  const act = (count: number) => `${isMove ? "Move" : "Cancel"} ${counted(count, "activation")}`;
  const words = `${counted(done, "activation")} ${isMove ? "moved" : "cancelled"}`;
  const confirmed = isConfirmed(visit);
  if (confirmed && refused.length === 0) return { to: "/activations", notice: `${words}.` };
  const left = counted(refused.length, "request");
  const why = confirmed ? `${left} refused, and left as they are:` : `${left} would be refused, and stay.`;
  const children = (
    <>
      {refused.length > 0 && <p class="alert">{done === 0 ? "All of them would be refused." : why}</p>}
      <OutcomeRows visit={visit} outcomes={confirmed ? refused : outcomes} known={known} />
    </>
  );
  const title = confirmed ? words : `${act(outcomes.length)}?`;
  // Where nothing could be done, there is nothing to confirm.
  if (confirmed || done === 0) {
    const page = pageShown(visit, title, [children, backLink(visit, "/activations", "All activations")]);
    return { ...page, status: confirmed ? 200 : 409 };
  }
  const move = items.flatMap(({ id, date }) => (date === null ? [] : [`${id} ${date}`]));
  return consequenceShown(isMove ? { ...visit, form: { ...visit.form, move } } : visit, {
    title,
    to: CHANGE,
    carried: ["act", isMove ? "move" : "id"],
    act: act(done),
    ...(isMove ? {} : { kind: "bad" }),
    back: "/activations",
    children,
  });
}

export const activationChangePages = [
  portalPage({ path: CHANGE, needs: "activations.write", act: change, again: activationsPage }),
];

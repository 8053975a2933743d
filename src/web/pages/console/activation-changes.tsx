import type { ComponentChildren } from "preact";
import {
  changeByStaff,
  changeByStaffForm,
  type StaffChange,
  type StaffOutcome,
} from "../../../core/activations/by-staff.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import { isCivilDate } from "../../../core/kernel/calendar-day.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { fieldsShown } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { Form, KEY_FIELD, Submit } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { LinkButton, pageShown, table } from "../../parts/shown.tsx";
import { plain } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import {
  type ConsoleVisit,
  choiceField,
  field,
  fields,
  integerField,
  optionalField,
  requiredField,
  type Shown,
} from "../../session/visit.ts";
import { personWords } from "./masked.ts";

/** What is to become of chosen requests: fields and buttons of the form around them. */
export function changeFields(visit: ConsoleVisit): ComponentChildren {
  const later = {
    name: "days",
    label: "Days later",
    hint: "2, or -1 for a day earlier.",
    inputmode: "numeric",
  } as const;
  return (
    <>
      {fieldsShown(visit, [later, { name: "date", label: "or new date", type: "date", hint: "A day in Sydney." }])}
      <Submit name="act" value="move">
        Move
      </Submit>
      {fieldsShown(visit, [{ name: "reason", label: "Reason of a cancellation", hint: "May be left out." }])}
      <Submit name="act" value="cancel" kind="bad">
        Cancel them
      </Submit>
    </>
  );
}

/** The same for requests that are known already. */
export function changeForm(visit: ConsoleVisit, ids: readonly string[]): ComponentChildren {
  return (
    <section>
      <h2>Move or cancel</h2>
      <Form visit={visit} to="/activations/bulk">
        {ids.map((id) => (
          <input type="hidden" name="id" value={id} />
        ))}
        <div class="acts">{changeFields(visit)}</div>
      </Form>
    </section>
  );
}

/** The change that a form asks for. Throws `validation`. */
function changeIn({ form }: ConsoleVisit): StaffChange {
  if (choiceField(form, "act", ["move", "cancel"]) === "cancel") {
    return { verb: "cancel", reason: optionalField(form, "reason") ?? null };
  }
  const date = field(form, "date");
  if (date === "") {
    if (field(form, "days") === "") throw invalid({ days: ["or a new date is required"] });
    const days = integerField(form, "days");
    if (days === 0 || Math.abs(days) > 999) throw invalid({ days: ["must be from 1 to 999, or from -999 to -1"] });
    return { verb: "shift", days };
  }
  if (field(form, "days") !== "") throw invalid({ date: ["is given beside days: give one of them"] });
  if (!isCivilDate(date)) throw invalid({ date: ["must be a day of the calendar, YYYY-MM-DD"] });
  return { verb: "move", date };
}

/** Shows what would become of each request, or changes them where that was seen. */
async function change(visit: ConsoleVisit): Promise<Shown> {
  const { form, user } = visit;
  // The database decides which of them are ids of requests.
  const ids = fields(form, "id") as ActivationId[];
  const asked = { ids, change: changeIn(visit) };
  const back = ids.length === 1 ? `/activations/${ids[0]}` : "/activations";
  if (!isConfirmed(visit)) {
    return foreseen(visit, { change: asked.change, outcomes: await visit.rehearse(changeByStaff, asked), back });
  }
  const keyed = { ...asked, key: requiredField(form, KEY_FIELD), userId: user.id };
  const outcomes = await visit.write(changeByStaffForm, keyed);
  if (outcomes === null) return { to: back, notice: "This form was sent before: nothing was done again." };
  const done = outcomes.filter(({ refused }) => refused === null).length;
  const notice = `${counted(done, "request")} ${asked.change.verb === "cancel" ? "cancelled" : "moved"}.`;
  if (done === outcomes.length) return { to: back, notice };
  return resultShown(visit, { title: notice, outcomes, back });
}

interface Outcomes {
  outcomes: StaffOutcome[];
  /** Under the face's base. */
  back: string;
}

function foreseen(
  visit: ConsoleVisit,
  { change: { verb }, outcomes, back }: Outcomes & { change: StaffChange },
): Shown {
  const possible = outcomes.filter(({ refused }) => refused === null).length;
  if (possible === 0) return resultShown(visit, { title: "Nothing can be changed", outcomes, back });
  const what = `${verb === "cancel" ? "Cancel" : "Move"} ${counted(possible, "activation")}`;
  return consequenceShown(visit, {
    title: `${what}?`,
    to: "/activations/bulk",
    carried: ["id", "act", "days", "date", "reason"],
    act: what,
    keyed: true,
    back,
    kind: verb === "cancel" ? "bad" : undefined,
    children: outcomesShown(visit, outcomes),
  });
}

function resultShown(visit: ConsoleVisit, { title, outcomes, back }: Outcomes & { title: string }): Shown {
  const body = (
    <>
      <section>{outcomesShown(visit, outcomes)}</section>
      <LinkButton visit={visit} to={back} words="Go back" />
    </>
  );
  return pageShown(visit, title, body);
}

function outcomesShown(visit: ConsoleVisit, rows: StaffOutcome[]): ComponentChildren {
  const refused = rows.filter((one) => one.refused !== null).length;
  return (
    <>
      {refused > 0 && <p class="alert bad">{counted(refused, "request")} refused: they stay as they are.</p>}
      {table(visit, { caption: "Requests, as they are and as they become", rows, empty: "" }, columnsOf(visit))}
    </>
  );
}

const columnsOf = (visit: ConsoleVisit): Column<StaffOutcome>[] => [
  {
    title: "ICCID",
    cell: ({ id, before }) => (before === null ? id : { text: before.iccid, href: `${visit.base}/activations/${id}` }),
  },
  { title: "Partner", cell: ({ partner }) => partner },
  { title: "Customer", cell: ({ before }) => personWords(before?.customer_name ?? null) },
  { title: "Date", cell: ({ before }) => before?.activation_date ?? null },
  { title: "New date", cell: ({ after }) => (after?.status === "cancelled" ? null : (after?.activation_date ?? null)) },
  { title: "Becomes", cell: ({ after }) => (after === null ? null : { status: after.status }) },
  { title: "Refused", cell: ({ refused }) => (refused === null ? null : whyWords(refused)) },
];

/** The codes of refusals in words. */
const whys: Readonly<Record<string, string>> = {
  not_found: "there is no such request",
  not_cancellable: "only a pending request can be cancelled",
  not_editable: "only a pending request can be changed",
  invalid_activation_date: "the date is past in Sydney, or too far ahead",
  passport_expired: "the passport expires before the new date",
};

function whyWords(reason: string): string {
  const [code = "", status] = reason.split(":");
  const words = whys[code] ?? plain(code);
  return status === undefined ? words : `it is ${status}: ${words}`;
}

/** The form again, with the requests that were chosen. */
function again(visit: ConsoleVisit): Shown {
  const form = changeForm(visit, fields(visit.form, "id"));
  return pageShown(visit, "Change activations", [form, <LinkButton visit={visit} to="/activations" words="Go back" />]);
}

const show = () => ({ to: "/activations" });

export const activationChangePages = [
  consolePage({ path: "/activations/bulk", needs: "activations.write", show, act: change, again }),
];

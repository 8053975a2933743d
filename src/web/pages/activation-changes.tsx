import type { ComponentChildren } from "preact";
import {
  type ChangeOutcome,
  changeMany,
  changeManyByForm,
  type ManyChange,
} from "../../core/activations/change-many.ts";
import type { ActivationId } from "../../core/kernel/brand.ts";
import { counted } from "../../core/kernel/counted.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { invalid, notFound } from "../../core/kernel/problem.ts";
import { bodyReader } from "../../daemon/plugins/validation.ts";
import { Cancellation } from "../../daemon/schemas/activation.ts";
import { type FieldOf, fieldsShown } from "../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../parts/consequence.tsx";
import { Form, KEY_FIELD, Submit } from "../parts/form.tsx";
import type { Column } from "../parts/list.tsx";
import { LinkButton, pageShown, table } from "../parts/shown.tsx";
import { plain } from "../parts/words.ts";
import type { PageOf } from "../session/page.ts";
import {
  calendarDay,
  choiceField,
  field,
  fields,
  integerField,
  optionalField,
  requiredField,
  type Shown,
  type SignedInVisit,
  type Visit,
} from "../session/visit.ts";

/** What is to become of chosen requests: fields and buttons of the form around them. */
export function changeFields(visit: Visit, cancel = "Cancel them"): ComponentChildren {
  const later: FieldOf = {
    name: "days",
    label: "Days later",
    hint: "2, or -1 for a day earlier.",
    inputmode: "numeric",
  };
  return (
    <>
      <div class="acts">
        {fieldsShown(visit, [
          later,
          { name: "date", label: "New date", type: "date", hint: "In place of days; a day in Sydney." },
        ])}
        <Submit name="act" value="move">
          Move
        </Submit>
      </div>
      <div class="acts">
        {fieldsShown(visit, [{ name: "reason", label: "Reason of a cancellation", hint: "May be left out." }])}
        <Submit name="act" value="cancel" kind="bad">
          {cancel}
        </Submit>
      </div>
    </>
  );
}

/** The same for requests that are known already. */
export function changeForm(visit: Visit, to: string, ids: readonly string[]): ComponentChildren {
  return (
    <section>
      <h2>Move or cancel</h2>
      <Form visit={visit} to={to}>
        {ids.map((id) => (
          <input type="hidden" name="id" value={id} />
        ))}
        <div class="acts">{changeFields(visit, ids.length === 1 ? "Cancel it" : undefined)}</div>
      </Form>
    </section>
  );
}

/** Reads why as the API does. */
const readCancellation = bodyReader(Cancellation);

/** The change that a form asks for. Throws `validation`. */
function changeIn({ form }: Visit): ManyChange {
  if (choiceField(form, "act", ["move", "cancel"]) === "cancel") {
    const { reason = null } = readCancellation({ reason: optionalField(form, "reason") });
    return { verb: "cancel", reason };
  }
  const date = calendarDay(form, "date");
  if (date === undefined) {
    if (field(form, "days") === "") throw invalid({ days: ["or a new date is required"] });
    const days = integerField(form, "days");
    if (days === 0 || Math.abs(days) > 999) throw invalid({ days: ["must be from 1 to 999, or from -999 to -1"] });
    return { verb: "shift", days };
  }
  if (field(form, "days") !== "") throw invalid({ date: ["is given beside days: give one of them"] });
  return { verb: "move", date };
}

/** A face's change of many requests. */
interface Changing<V extends SignedInVisit> {
  path: string;
  /** Whose requests the visitor may change; null: any partner's. */
  ownerOf(visit: V): Owner | null;
  /** Columns that say whose a request is. */
  whose: readonly Column<ChangeOutcome>[];
}

/** Shows what would become of each request, and changes them once that was seen. */
export function changePage<V extends SignedInVisit>(face: Changing<V>): Pick<PageOf<V>, "path" | "act" | "again"> {
  const { path } = face;
  return {
    path,
    act: (visit) => change(visit, face),
    /** The form again, with the requests that were chosen. */
    again: (visit) => {
      const back = <LinkButton visit={visit} to="/activations" words="Go back" />;
      return pageShown(visit, "Change activations", [changeForm(visit, path, fields(visit.form, "id")), back]);
    },
  };
}

async function change<V extends SignedInVisit>(visit: V, face: Changing<V>): Promise<Shown> {
  const ids = fields(visit.form, "id") as ActivationId[]; // the database decides which of them are ids of requests
  const asked = { ids, owner: face.ownerOf(visit), change: changeIn(visit) };
  const back = ids.length === 1 ? `/activations/${ids[0]}` : "/activations";
  const shown = { columns: columnsOf(face), back };
  if (!isConfirmed(visit)) {
    const outcomes = await visit.rehearse(changeMany, asked);
    return foreseen(visit, { ...shown, verb: asked.change.verb, to: face.path, outcomes });
  }
  const keyed = { ...asked, key: requiredField(visit.form, KEY_FIELD), userId: visit.user.id };
  const outcomes = await visit.write(changeManyByForm, keyed);
  if (outcomes === null) return { to: back, notice: "This form was sent before: nothing was done again." };
  requireAny(outcomes);
  const done = outcomes.filter(({ refused }) => refused === null).length;
  const notice = `${counted(done, "request")} ${asked.change.verb === "cancel" ? "cancelled" : "moved"}.`;
  if (done === outcomes.length) return { to: back, notice };
  return resultShown(visit, { ...shown, title: notice, outcomes });
}

/** Throws `not_found` where none of the requests is there. */
function requireAny(outcomes: readonly ChangeOutcome[]): void {
  if (outcomes.every(({ refused }) => refused === "not_found")) throw notFound("activation");
}

interface Outcomes {
  outcomes: readonly ChangeOutcome[];
  columns: readonly Column<ChangeOutcome>[];
  /** Under the face's base. */
  back: string;
}

function foreseen(visit: Visit, given: Outcomes & { verb: ManyChange["verb"]; to: string }): Shown {
  const { verb, to, outcomes, back } = given;
  requireAny(outcomes);
  const possible = outcomes.filter(({ refused }) => refused === null).length;
  if (possible === 0) return { ...resultShown(visit, { ...given, title: "Nothing can be changed" }), status: 409 };
  const what = `${verb === "cancel" ? "Cancel" : "Move"} ${counted(possible, "activation")}`;
  return consequenceShown(visit, {
    ...{ title: `${what}?`, act: what, to, back, keyed: true },
    carried: ["id", "act", "days", "date", "reason"],
    kind: verb === "cancel" ? "bad" : undefined,
    children: outcomesShown(visit, given),
  });
}

function resultShown(visit: Visit, given: Outcomes & { title: string }) {
  return pageShown(visit, given.title, [
    <section>{outcomesShown(visit, given)}</section>,
    <LinkButton visit={visit} to={given.back} words="Go back" />,
  ]);
}

function outcomesShown(visit: Visit, { outcomes: rows, columns }: Outcomes): ComponentChildren {
  const refused = rows.filter((one) => one.refused !== null).length;
  return [
    refused > 0 && <p class="alert bad">{counted(refused, "request")} refused: they stay as they are.</p>,
    table(visit, { caption: "Requests, as they are and as they become", rows, empty: "" }, columns),
  ];
}

const columnsOf = ({ whose }: Pick<Changing<never>, "whose">): Column<ChangeOutcome>[] => [
  { title: "ICCID", cell: ({ id, before }) => (before ? { text: before.iccid, to: `/activations/${id}` } : id) },
  ...whose,
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
  identity_unreadable: "its identity data cannot be read",
};

function whyWords(reason: string): string {
  const [code = "", status] = reason.split(":");
  const words = whys[code] ?? plain(code);
  return status === undefined ? words : `it is ${plain(status)}: ${words}`;
}

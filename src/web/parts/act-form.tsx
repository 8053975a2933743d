import type { ComponentChildren } from "preact";
import { field, type Visit } from "../session/visit.ts";
import { Field, Form, Submit } from "./form.tsx";
import { merged, type Said, SHOWN_FIELD, shownText } from "./merging.ts";
import { LinkButton } from "./shown.tsx";

/** A field as data: a labeled one, a box to tick, or a heading or a sentence between them; false: none. */
export type FieldOf =
  | Omit<Parameters<typeof Field>[0], "visit">
  | { tick: string; label: string; checked?: boolean }
  | { heading: string }
  | string
  | false;

/** The names that fields are sent under. */
export function namesOf(given: readonly FieldOf[]): string[] {
  return given.flatMap((one) => {
    if (typeof one !== "object" || "heading" in one) return [];
    return "tick" in one ? one.tick : one.name;
  });
}

/** What fields say of a record; one without a value says nothing. */
export function saidBy(given: readonly FieldOf[]): Said {
  const said = given.flatMap((one): [string, string][] => {
    if (typeof one !== "object" || "heading" in one) return [];
    if ("tick" in one) return [[one.tick, one.checked === true ? "yes" : ""]];
    return one.value === undefined ? [] : [[one.name, one.value]];
  });
  return Object.fromEntries(said);
}

/** Fields with what was sent before: a box that was sent without its tick is no field of the form. */
export function fieldsShown(visit: Visit, given: readonly FieldOf[]): ComponentChildren {
  const wasSent = given.some((one) => typeof one === "object" && "name" in one && one.name in visit.form);
  return given.map((one) => {
    if (one === false) return null;
    if (typeof one === "string") return <p class="hint">{one}</p>;
    if ("heading" in one) return <h2>{one.heading}</h2>;
    if ("name" in one) return <Field visit={visit} {...one} />;
    const isOn = wasSent ? field(visit.form, one.tick) !== "" : one.checked === true;
    return <Tick visit={visit} name={one.tick} label={one.label} checked={isOn} />;
  });
}

type FormProps = Omit<Parameters<typeof Form>[0], "visit" | "children">;

/** A form as data. */
export interface FormOf extends FormProps {
  /** The heading of the section that the form is then in, and a sentence above it. */
  title?: string;
  intro?: string;
  /** The section is folded under its heading, unless it is open. */
  folded?: { open: boolean };
  fields: readonly FieldOf[];
  /** They are of a record that others may change meanwhile: what else it says of it, see `mergedVisit`. */
  ofRecord?: Said;
  /** What it carries without showing it. */
  hidden?: Readonly<Record<string, string | readonly string[]>>;
  /** What else is in it, before its fields and after them. */
  before?: ComponentChildren;
  after?: ComponentChildren;
  /** What its button says, and whether that takes something away, or is none of the page's main acts. */
  submit: string;
  bad?: boolean;
  plain?: boolean;
  /** Beside the button: another one, or where it leads back to, under the face's base. */
  beside?: ComponentChildren;
  back?: string;
}

/** A form with its fields and its button. */
export function formShown(visit: Visit, given: FormOf): ComponentChildren {
  const {
    title,
    intro,
    folded,
    fields,
    ofRecord,
    hidden = {},
    before,
    after,
    submit,
    bad,
    plain,
    back,
    beside: _,
    ...form
  } = given;
  const beside = back === undefined ? given.beside : <LinkButton visit={visit} to={back} words="Go back" />;
  const button = <Submit kind={bad ? "bad" : plain ? "plain" : undefined}>{submit}</Submit>;
  const said = ofRecord && { ...saidBy(fields), ...ofRecord };
  const seen = said === undefined ? visit : { ...visit, form: merged(visit.form, said) };
  const shown = (
    <Form class="narrow" {...form} visit={visit}>
      {said && <input type="hidden" name={SHOWN_FIELD} value={shownText(said)} />}
      {Object.entries(hidden).flatMap(([name, values]) =>
        [values].flat().map((value) => <input type="hidden" name={name} value={value} />),
      )}
      {before}
      {fieldsShown(seen, fields)}
      {after}
      {beside === undefined ? (
        button
      ) : (
        <div class="acts">
          {button}
          {beside}
        </div>
      )}
    </Form>
  );
  if (folded !== undefined) return foldedShown(title ?? submit, folded.open, shown);
  if (title === undefined && intro === undefined) return shown;
  return (
    <section>
      {title !== undefined && <h2>{title}</h2>}
      {intro !== undefined && <p>{intro}</p>}
      {shown}
    </section>
  );
}

/** A section that is folded under its heading. */
function foldedShown(title: string, open: boolean, children: ComponentChildren): ComponentChildren {
  return (
    <section>
      <details open={open}>
        <summary>
          <strong>{title}</strong>
        </summary>
        {children}
      </details>
    </section>
  );
}

/** A box to tick. */
function Tick({
  visit,
  name,
  label,
  checked,
}: Pick<Parameters<typeof Field>[0], "visit" | "name" | "label"> & { checked?: boolean }) {
  const isOn = name in visit.form ? field(visit.form, name) !== "" : checked;
  visit.labels.set(name, label);
  return (
    <label class="tick">
      <input type="checkbox" name={name} value="yes" checked={isOn} /> {label}
    </label>
  );
}

import type { ComponentChildren } from "preact";
import { field, type Visit } from "../session/visit.ts";
import { Field, Form, Submit, Tick } from "./form.tsx";
import { LinkButton } from "./shown.tsx";

/** A field as data: a labeled one, a box to tick, or a sentence between them; false: none. */
export type FieldOf =
  | Omit<Parameters<typeof Field>[0], "visit">
  | { tick: string; label: string; checked?: boolean }
  | string
  | false;

/** The names that fields are sent under. */
export function namesOf(given: readonly FieldOf[]): string[] {
  return given.flatMap((one) => (typeof one !== "object" ? [] : "tick" in one ? one.tick : one.name));
}

/** Fields with what was sent before: a box that was sent without its tick is no field of the form. */
export function fieldsShown(visit: Visit, given: readonly FieldOf[]): ComponentChildren {
  const wasSent = given.some((one) => typeof one === "object" && "name" in one && one.name in visit.form);
  return given.map((one) => {
    if (one === false) return null;
    if (typeof one === "string") return <p class="hint">{one}</p>;
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
  fields: readonly FieldOf[];
  /** What it carries without showing it. */
  hidden?: Readonly<Record<string, string | readonly string[]>>;
  /** What else is in it, before its fields. */
  before?: ComponentChildren;
  /** What its button says, and whether that takes something away. */
  submit: string;
  bad?: boolean;
  /** Beside the button: where it leads back to, under the face's base. */
  back?: string;
}

/** A form with its fields and its button. */
export function formShown(visit: Visit, given: FormOf): ComponentChildren {
  const { title, intro, fields, hidden = {}, before, submit, bad, back, ...form } = given;
  const button = <Submit kind={bad ? "bad" : undefined}>{submit}</Submit>;
  const shown = (
    <Form class="narrow" {...form} visit={visit}>
      {Object.entries(hidden).flatMap(([name, values]) =>
        [values].flat().map((value) => <input type="hidden" name={name} value={value} />),
      )}
      {before}
      {fieldsShown(visit, fields)}
      {back === undefined ? (
        button
      ) : (
        <div class="acts">
          {button}
          <LinkButton visit={visit} to={back} words="Go back" />
        </div>
      )}
    </Form>
  );
  if (title === undefined && intro === undefined) return shown;
  return (
    <section>
      {title !== undefined && <h2>{title}</h2>}
      {intro !== undefined && <p>{intro}</p>}
      {shown}
    </section>
  );
}

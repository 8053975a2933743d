import type { ComponentChildren } from "preact";
import { field, fields, type Shown, type Visit } from "../session/visit.ts";
import { Form, FormProblem, Submit } from "./form.tsx";

/** The hidden field that says that the consequences were seen. */
const CONFIRMED = "confirmed";

/** Whether the form that was sent confirms what was shown before. */
export function isConfirmed({ form }: Visit): boolean {
  return field(form, CONFIRMED) === "yes";
}

interface Consequence {
  title: string;
  /** Under the face's base: the same act again. */
  to: string;
  /** The fields that the act takes, as they were sent. */
  carried: readonly string[];
  /** What the button says that does it. */
  act: string;
  kind?: "bad";
  /** It moves money: sent twice, it acts once. */
  keyed?: boolean;
  /** It may take long. */
  slow?: boolean;
  /** Where it leads back to, under the face's base. */
  back: string;
  /** What comes of it: a table, or sentences. */
  children: ComponentChildren;
}

/** What an act would come to, rehearsed, with the button that does it. */
export function consequenceShown(
  visit: Visit,
  { title, to, carried, act, kind, keyed, slow, back, children }: Consequence,
): Shown {
  const body = (
    <>
      <h1>{title}</h1>
      <FormProblem visit={visit} />
      <section>{children}</section>
      <Form visit={visit} to={to} {...(keyed === undefined ? {} : { keyed })} slow={slow} class="acts">
        <input type="hidden" name={CONFIRMED} value="yes" />
        {carried.flatMap((name) =>
          fields(visit.form, name).map((value) => <input type="hidden" name={name} value={value} />),
        )}
        <Submit {...(kind === undefined ? {} : { kind })}>{act}</Submit>
        <a class="button plain" href={`${visit.base}${back}`}>
          Go back
        </a>
      </Form>
    </>
  );
  return { title, body };
}

import { type ComponentChildren, h } from "preact";
import { CSRF_FIELD } from "../session/csrf.ts";
import { field, type Visit } from "../session/visit.ts";
import { titleOf } from "./words.ts";

/** The hidden field by which a form that is sent twice acts once. */
export const KEY_FIELD = "key";

interface FormProps {
  visit: Visit;
  /** Under the face's base; left out: the address of the page. */
  to?: string;
  /** It moves money or places an order: sent twice, it acts once. */
  keyed?: boolean;
  /** It sends a file: what is done with it may take long. */
  files?: boolean;
  /** What it asks for may take long otherwise: a script shows how far it is. */
  slow?: boolean;
  class?: string;
  /** Where the script asks for a quote as it is filled in. */
  quote?: string;
  children: ComponentChildren;
}

/** A form that changes something: bound to its session, and to one act where it says so. */
export function Form({ visit, to, keyed, files, slow = files, class: look, quote, children }: FormProps) {
  const { ids, clock } = visit.context;
  const key = field(visit.form, KEY_FIELD) || ids.uuid(clock.now());
  return (
    <form
      method="post"
      action={to === undefined ? undefined : `${visit.base}${to}`}
      encType={files ? "multipart/form-data" : undefined}
      class={look || undefined}
      data-quote={quote}
      data-progress={slow ? "" : undefined}
    >
      <input type="hidden" name={CSRF_FIELD} value={visit.csrf} />
      {keyed && <input type="hidden" name={KEY_FIELD} value={key} />}
      {children}
    </form>
  );
}

interface FieldProps {
  visit: Visit;
  name: string;
  label: string;
  type?: string;
  value?: string;
  hint?: string;
  required?: boolean;
  autocomplete?: string;
  inputmode?: "numeric" | "decimal" | "email";
  min?: string;
  max?: string;
  /** A choice in place of free text: values and words, or words alone. */
  options?: readonly (string | readonly [value: string, words: string])[];
  rows?: number;
  /** What free text may be, as values and words. */
  suggestions?: readonly (readonly [value: string, words: string])[];
}

/** A labeled field, with what was sent before and what is wrong with it. */
export function Field(props: FieldProps) {
  const { visit, name, label, hint, type = "text" } = props;
  const id = `f-${name}`;
  visit.labels.set(name, label);
  const errors = visit.problem?.errors?.[name] ?? [];
  const notes = [errors.length > 0 && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean).join(" ");
  const common = {
    id,
    name,
    required: props.required,
    "aria-invalid": errors.length > 0 ? ("true" as const) : undefined,
    "aria-describedby": notes || undefined,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Input {...props} type={type} common={common} />
      {props.suggestions && (
        <datalist id={`${id}-list`}>
          {props.suggestions.map(([value, words]) => (
            <option value={value}>{words}</option>
          ))}
        </datalist>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {errors.length > 0 && (
        <p class="error" id={`${id}-error`}>
          {label} {errors.join(", ")}.
        </p>
      )}
    </div>
  );
}

function Input({ visit, name, type, value = "", common, options, rows, ...rest }: FieldProps & { common: object }) {
  const sent = type === "password" ? "" : name in visit.form ? field(visit.form, name) : value;
  if (options !== undefined) {
    return (
      <select {...common}>
        {options.map((option) => {
          const [key, words] = typeof option === "string" ? [option, option.replaceAll("_", " ")] : option;
          return (
            <option value={key} selected={key === sent}>
              {words}
            </option>
          );
        })}
      </select>
    );
  }
  if (rows !== undefined) {
    return (
      <textarea {...common} rows={rows}>
        {sent}
      </textarea>
    );
  }
  const { autocomplete, inputmode, min, max, suggestions } = rest;
  const list = suggestions && `f-${name}-list`;
  const others = { autocomplete, inputMode: inputmode, min, max, list };
  return h("input", { ...common, type, value: sent || undefined, ...others });
}

/** What is wrong with a form that was sent, its fields called as the form calls them. */
export function FormProblem({ visit }: { visit: Visit }) {
  const { problem, labels } = visit;
  if (problem === null) return null;
  const errors = Object.entries(problem.errors ?? {});
  const faults = errors.map(([name, words]) => `${labels.get(name) ?? titleOf(name)} ${words.join(", ")}.`);
  return (
    <div class="alert bad" role="alert">
      <p>{faults.length > 1 ? `${faults.length} fields are wrong:` : (faults[0] ?? problem.message)}</p>
      {faults.length > 1 && (
        <ul>
          {faults.map((words) => (
            <li>{words}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface SubmitProps {
  children: ComponentChildren;
  kind?: "bad" | "plain";
  /** Another address than the form's. */
  to?: string;
  /** Sent where the form has several buttons. */
  name?: string;
  value?: string;
}

/** The button of a form. */
export function Submit({ children, kind, to, name, value }: SubmitProps) {
  return (
    <button type="submit" class={kind} formAction={to} name={name} value={value}>
      {children}
    </button>
  );
}

/** A button that is a form of its own. */
export function ActButton({
  visit,
  to,
  label,
  kind,
  slow,
  hidden = {},
}: {
  visit: Visit;
  to: string;
  label: string;
  kind?: "bad" | "plain";
  slow?: boolean;
  hidden?: Record<string, string>;
}) {
  return (
    <Form visit={visit} to={to} slow={slow} class="inline">
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Submit kind={kind ?? "plain"}>{label}</Submit>
    </Form>
  );
}

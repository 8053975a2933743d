import { invalid } from "../../core/kernel/problem.ts";
import { type Form, field, fields, type Visit } from "../session/visit.ts";

/** The hidden field that says what the fields of a form said of a record when they were shown. */
export const SHOWN_FIELD = "shown";

/** What a record says, by the names of the fields that show it; of a box to tick "yes" or "". */
export type Said = Readonly<Record<string, string | readonly string[]>>;

/** What a form carries of it. */
export function shownText(said: Said): string {
  return JSON.stringify(said);
}

/** What a form that was sent had shown; null: it says nothing of that. */
function shownIn(form: Form): Said | null {
  try {
    const shown: unknown = JSON.parse(field(form, SHOWN_FIELD));
    // A form that was made up can only overwrite what it might have overwritten without it.
    return typeof shown === "object" && shown !== null ? (shown as Said) : null;
  } catch {
    return null;
  }
}

/** As browsers send a text, without blanks around it. */
const textOf = (values: Said[string] | undefined) => [values ?? []].flat().join("\n").replaceAll("\r\n", "\n").trim();
const sentOf = (form: Form, name: string) => textOf(fields(form, name));

/**
 * A form that was sent, whose fields say what the record says now where they were left as they were shown: another
 * person may have changed them meanwhile.
 */
export function merged(form: Form, now: Said): Form {
  const shown = shownIn(form);
  if (shown === null) return form;
  const left = Object.entries(now).filter(([name]) => name in shown && sentOf(form, name) === textOf(shown[name]));
  return { ...form, ...Object.fromEntries(left) };
}

/**
 * The same of a visit, for the act. Throws `validation` for a field that was changed in the form, and to something else
 * in the record meanwhile.
 */
export function mergedVisit<V extends Visit>(visit: V, now: Said): V {
  const shown = shownIn(visit.form) ?? {};
  const twice = Object.entries(now).filter(([name, value]) => {
    const [sent, was, is] = [sentOf(visit.form, name), textOf(shown[name]), textOf(value)];
    return name in shown && sent !== was && is !== was && sent !== is;
  });
  if (twice.length > 0) {
    throw invalid(Object.fromEntries(twice.map(([name, value]) => [name, [changedWords(value)]])));
  }
  return { ...visit, form: merged(visit.form, now) };
}

function changedWords(now: Said[string]): string {
  const words = textOf(now).replaceAll("\n", ", ") || "nothing";
  return `was changed meanwhile, to ${words}: send the form again to replace that`;
}

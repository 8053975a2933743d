import type { ComponentChildren } from "preact";
import type { UserId } from "../../core/kernel/brand.ts";
import type { Command } from "../../core/store/store.ts";
import type { PageOf } from "../session/page.ts";
import { type Acted, requiredField, type Shown, type SignedInVisit } from "../session/visit.ts";
import { type FieldOf, formShown, namesOf } from "./act-form.tsx";
import { consequenceShown, isConfirmed } from "./consequence.tsx";
import { KEY_FIELD } from "./form.tsx";
import { LinkButton, pageShown } from "./shown.tsx";

/** The input of a command without who acts: that is the visitor. */
type Asked<I> = Omit<I, "actor">;
type ByForm = { key: string; userId: UserId };

/** An act on a record: its form, what would come of it, and the act itself, once that was seen. */
export interface ActOf<V extends SignedInVisit, S, I extends Acted, R> {
  /** What it is done to, as far as its pages need it. */
  read(visit: V): Promise<S>;
  /** Where that is shown, under the face's base; the act leads back there. */
  at(seen: S): string;
  /** The end of the act's own address, after that of the record; left out: it is the record's. */
  verb?: string;
  title(seen: S, visit: V): string;
  /** What the button says that does it, and whether that takes something away. */
  button: string | ((rehearsed: R, seen: S, visit: V) => string);
  bad?: boolean | ((visit: V) => boolean);
  /** The form that is filled in first; where it is empty, what comes of it is shown at once. */
  fields?: readonly FieldOf[] | ((seen: S, visit: V) => readonly FieldOf[]);
  /** Why there is no form at present, in a sentence; null, and left out: there is one. */
  hindrance?(seen: S, visit: V): string | null;
  /** Where another page has the form: its fields. */
  carried?: readonly string[];
  command: Command<I, R>;
  input(visit: V, seen: S): Asked<I>;
  /** In place of the command: it acts once by the form's key, and answers null where that was used before. */
  keyed?: Command<I & ByForm, R | null>;
  /** What comes of it, as it was rehearsed. */
  foresee(rehearsed: R, seen: S, visit: V): ComponentChildren | Promise<ComponentChildren>;
  /** Words about what was done, or the page that shows it. */
  done(result: R, seen: S, visit: V): string | Shown;
}

/** What a page does with such an act: `again` where it has no form of its own is the page that has the form. */
export function actPage<V extends SignedInVisit, S, I extends Acted, R>(
  given: ActOf<V, S, I, R>,
): Pick<PageOf<V>, "act" | "show" | "again"> {
  const act = async (visit: V) => attempted(given, visit, await given.read(visit));
  if (given.fields === undefined) return { act };
  const show = async (visit: V) => {
    const seen = await given.read(visit);
    const hindrance = given.hindrance?.(seen, visit) ?? null;
    if (hindrance !== null) return hindered(given, visit, { seen, hindrance });
    const isAtOnce = fieldsOf(given, visit, seen).length === 0 && visit.problem === null;
    return isAtOnce ? attempted(given, { ...visit, form: {} }, seen) : formPage(given, visit, seen);
  };
  return { act, show, again: show };
}

function fieldsOf<V extends SignedInVisit, S, I extends Acted, R>(
  { fields = [] }: ActOf<V, S, I, R>,
  visit: V,
  seen: S,
): readonly FieldOf[] {
  return typeof fields === "function" ? fields(seen, visit) : fields;
}

function hindered<V extends SignedInVisit, S, I extends Acted, R>(
  { title, at }: ActOf<V, S, I, R>,
  visit: V,
  { seen, hindrance }: { seen: S; hindrance: string },
): Shown {
  return pageShown(visit, title(seen, visit), [
    <p class="alert">{hindrance}</p>,
    <LinkButton visit={visit} to={at(seen)} words="Go back" />,
  ]);
}

function addressOf<S>({ at, verb }: { at(seen: S): string; verb?: string }, seen: S): string {
  return verb === undefined ? at(seen) : `${at(seen)}/${verb}`;
}

async function attempted<V extends SignedInVisit, S, I extends Acted, R>(
  given: ActOf<V, S, I, R>,
  visit: V,
  seen: S,
): Promise<Shown> {
  const { command, button, bad } = given;
  const [input, back] = [given.input(visit, seen), given.at(seen)];
  if (isConfirmed(visit)) {
    const did = await confirmed(given, visit, input);
    if (did === null) return { to: back, notice: "This form was sent before: nothing was done again." };
    const done = given.done(did.result, seen, visit);
    return typeof done === "string" ? { to: back, notice: done } : done;
  }
  const rehearsed = await visit.rehearse(command, input);
  return consequenceShown(visit, {
    title: given.title(seen, visit),
    to: addressOf(given, seen),
    carried: given.carried ?? namesOf(fieldsOf(given, visit, seen)),
    act: typeof button === "string" ? button : button(rehearsed, seen, visit),
    back,
    kind: (typeof bad === "function" ? bad(visit) : bad) ? "bad" : undefined,
    keyed: given.keyed !== undefined,
    children: await given.foresee(rehearsed, seen, visit),
  });
}

/** Null: the form was sent before. */
async function confirmed<V extends SignedInVisit, S, I extends Acted, R>(
  { command, keyed }: ActOf<V, S, I, R>,
  visit: V,
  input: Asked<I>,
): Promise<{ result: R } | null> {
  if (keyed === undefined) return { result: await visit.write(command, input) };
  const byForm: ByForm = { key: requiredField(visit.form, KEY_FIELD), userId: visit.user.id };
  // Both together are what the command takes, without the actor.
  const result = await visit.write(keyed, { ...input, ...byForm } as Asked<I & ByForm>);
  return result === null ? null : { result };
}

function formPage<V extends SignedInVisit, S, I extends Acted, R>(given: ActOf<V, S, I, R>, visit: V, seen: S): Shown {
  const submit = "Show what comes of it";
  const form = { to: addressOf(given, seen), fields: fieldsOf(given, visit, seen), submit, back: given.at(seen) };
  return pageShown(visit, given.title(seen, visit), <section>{formShown(visit, form)}</section>);
}

import type { ComponentChildren } from "preact";
import type { Shown, Visit } from "../session/visit.ts";
import { FormProblem } from "./form.tsx";
import { plain } from "./words.ts";

/** A page under its heading, with what was wrong with a form of it. */
export function pageShown(visit: Visit, title: string, children: ComponentChildren): Shown & { title: string } {
  const body = (
    <>
      <h1>{title}</h1>
      <FormProblem visit={visit} />
      {children}
    </>
  );
  return { title, body };
}

/** A link to the page that a page belongs to. */
export function backLink({ base }: Visit, to: string, words: string): ComponentChildren {
  return (
    <p>
      <a href={`${base}${to}`}>{words}</a>
    </p>
  );
}

/** What is shown once: each value with its heading, to be copied. */
export function onceShown(
  visit: Visit,
  title: string,
  given: { words: string; values: readonly (readonly [id: string, heading: string, value: string])[]; back: string },
): Shown {
  const body = (
    <>
      <p class="alert">{given.words}</p>
      {given.values.map(([id, heading, value]) => (
        <>
          <h2>{heading}</h2>
          <pre data-copy="" id={id}>
            {value}
          </pre>
        </>
      ))}
      {backLink(visit, given.back, "Continue")}
    </>
  );
  return { ...pageShown(visit, title, body), secret: true };
}

/** "Status: pending → completed.", of words of the API. */
export function changeWords(from: string, to: string): string {
  return from === to ? `It stays ${plain(from)}.` : `Status: ${plain(from)} → ${plain(to)}.`;
}

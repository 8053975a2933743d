import type { ComponentChildren } from "preact";
import { formShown } from "../../parts/act-form.tsx";
import type { ConsoleVisit } from "../../session/visit.ts";

/** Where a secret is typed: what was sent is never shown again, nor carried by a page. */
export function secretField(hint: string, required = false) {
  return { name: "secret", label: "Secret", type: "password", autocomplete: "off", hint, required };
}

/** The form that gives a connection another secret, and nothing else. */
export function secretForm(visit: ConsoleVisit, to: string, hasSecret: boolean): ComponentChildren {
  return formShown(visit, {
    ...{ title: "Secret", to, submit: hasSecret ? "Replace the secret" : "Set the secret" },
    fields: [secretField("It is sealed, and shown nowhere.", true)],
  });
}

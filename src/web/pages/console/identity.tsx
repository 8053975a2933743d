import { Problem } from "../../../core/kernel/problem.ts";
import { Record } from "../../parts/list.tsx";
import { type Fields, LinkButton, pageShown } from "../../parts/shown.tsx";
import { type Cell, titleOf } from "../../parts/words.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";

/** The fields of a revealed identity that are there, by their names in words. */
export function identityFields(identity: Readonly<{ [field: string]: string | null }>): [string, Cell][] {
  return Object.entries(identity).flatMap(([name, value]) => (value === null ? [] : [[titleOf(name), value]]));
}

/** The grant to reveal shows identities of what the role may see, and of nothing else. Throws `forbidden`. */
export function requireSight(visit: ConsoleVisit, permission: "activations.read" | "passports.read"): void {
  if (!visit.may(permission)) throw new Problem("forbidden", "Your role does not allow this page.");
}

/** An identity, which the audit trail has as seen; no cache keeps the page. */
export function identityShown(visit: ConsoleVisit, given: { title: string; fields: Fields; back: string }): Shown {
  const body = (
    <>
      <section>
        {given.fields.length === 0 ? <p>It was purged.</p> : <Record visit={visit} fields={given.fields} />}
        <p class="hint">The audit trail has that you saw it.</p>
      </section>
      <LinkButton visit={visit} to={given.back} words="Go back" />
    </>
  );
  return { ...pageShown(visit, given.title, body), secret: true };
}

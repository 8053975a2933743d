import type { ComponentChildren } from "preact";
import { exportEvidence } from "../../../core/evidence/export.ts";
import type { Store } from "../../../core/store/store.ts";
import { formShown } from "../../parts/act-form.tsx";
import { begun } from "../../parts/begun.ts";
import { type ConsoleVisit, calendarDay, field, requiredField, type Shown } from "../../session/visit.ts";

/** Asks from which day on the trail is exported as evidence: by default that of the list. */
export function exportForm(visit: ConsoleVisit): ComponentChildren {
  return formShown(visit, {
    ...{ title: "Signed export", to: "/platform/audit/export", submit: "Download", plain: true },
    folded: { open: visit.problem !== null },
    before: (
      <p>
        All rows of the audit trail and the ledger from a day on, with signatures and public keys: evidence, to be kept
        where those who run this host cannot change it. No filter narrows it; the list as it is filtered is under
        "Download CSV".
      </p>
    ),
    fields: [
      { name: "since", label: "From (UTC day)", type: "date", value: field(visit.query, "since"), required: true },
    ],
  });
}

/** The lines of the export, as `audit export` writes them. Throws `validation`. */
export async function exportFile({ form, store }: ConsoleVisit): Promise<Shown> {
  const day = calendarDay(form, "since") ?? requiredField(form, "since");
  // There is a line at least: the key that signs.
  const file = (await begun(linesOf(store, Date.parse(day)))) ?? "";
  return { file, type: "application/x-ndjson", name: `evidence-${day}.jsonl` };
}

async function* linesOf(store: Store, since: number): AsyncGenerator<string> {
  for await (const { text } of exportEvidence(store, { since })) yield `${text}\n`;
}

import type { Repaid } from "../../../core/after-sale/given-back.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { choiceField, type Form } from "../../session/visit.ts";

const REPAID = "repaid";

/** Asks whether an eSIM was repaid before, where that is unclear: nothing is chosen before. */
export function repaidFields(unclear: string | null): FieldOf[] {
  if (unclear === null) return [];
  const label = "Was that for this eSIM?";
  return [
    `${unclear} went back by a refund of the order before, and nothing says for which eSIM.`,
    { name: REPAID, label, options: [["", "–"], "yes", "no"], required: true },
  ];
}

/** What was answered; undefined: it was not asked. */
export function repaidIn(form: Form): Repaid {
  return REPAID in form ? choiceField(form, REPAID, ["yes", "no"]) === "yes" : undefined;
}

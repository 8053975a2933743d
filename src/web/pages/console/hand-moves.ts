import type { HandMove } from "../../../core/activations/operator.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { type ConsoleVisit, optionalField, requiredField } from "../../session/visit.ts";

/** What staff do by hand, of an activation request and of an order's item. */
export type HandVerb = HandMove["verb"];

/** The fields of the form that says why something fails for good. */
export function failing(example: string): readonly FieldOf[] {
  return [
    { name: "error", label: "Error", hint: `A short name that programs read: ${example}.`, required: true },
    { name: "message", label: "Why", hint: "For the partner; no identity data.", required: true },
  ];
}

/** The move that a form asks for: with the number that was activated, or with the eSIM. Throws `validation`. */
export function moveIn(verb: HandVerb, { form }: ConsoleVisit, gives: "number" | "esim"): HandMove {
  switch (verb) {
    case "confirm":
      return { verb, number: requiredField(form, "number") };
    case "complete":
    case "correct": {
      const none = { mobileNumber: null, iccid: null, activationCode: null };
      if (gives === "number") return { verb, ...none, mobileNumber: requiredField(form, "mobile") };
      const [iccid, code] = [optionalField(form, "iccid"), optionalField(form, "activation_code")];
      return { verb, ...none, iccid: iccid ?? null, activationCode: code ?? null };
    }
    case "fail":
      return { verb, errorType: requiredField(form, "error"), errorMessage: requiredField(form, "message") };
    case "retry":
      return { verb };
  }
}

import { sydneyToday } from "../../../core/activations/calendar.ts";
import { mayDraw, submitOwn } from "../../../core/activations/submit-own.ts";
import { identityNames, simNames } from "../../../core/kernel/identity-fields.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { bodyReader } from "../../../daemon/plugins/validation.ts";
import { NewActivation } from "../../../daemon/schemas/activation.ts";
import { formShown } from "../../parts/act-form.tsx";
import { backLink, pageShown } from "../../parts/shown.tsx";
import { portalPage } from "../../session/page.ts";
import { field, type PortalVisit, type Form as Sent, type Shown } from "../../session/visit.ts";
import { requestField, requestLabel } from "../activation-fields.ts";
import { openedHere, requireOpenedHere } from "./own-pages.ts";

const PATH = "/activations/new";

/** Reads a request as the API does: its shape is checked, its identity and dates are core's to check. */
export const readActivation = bodyReader(NewActivation);

/** What a request has for the partner's own use. */
export const customerNames = ["customer_email", "customer_phone", "plan_name", "note"] as const;

/** What a program sets to true for a request that is refused without it. */
const boxes: Readonly<Record<string, string>> = {
  confirm_date_change: "Replace a pending request for this ICCID that has another date",
  again: "Submit it although it was cancelled, or failed, for this date before",
};

const names = ["iccid", "activation_date", ...identityNames, ...simNames, ...customerNames] as const;

async function formPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner, context } = visit;
  const draws = await store.read(mayDraw, owner.partnerId);
  const date = { type: "date", min: sydneyToday(context.clock.now()), hint: "A day in Sydney.", required: true };
  return pageShown(visit, "New activation", [
    <p>
      The carrier is found by the ICCID and says which fields it needs.
      {draws && " Leave the passport number out to draw a verified passport from your pool."}
    </p>,
    formShown(visit, {
      ...{ to: PATH, hidden: openedHere(visit), submit: "Submit" },
      fields: [
        { name: "iccid", label: "ICCID", inputmode: "numeric", hint: "As printed on the SIM.", required: true },
        { name: "activation_date", label: "Activation date", ...date },
        { heading: "Traveler" },
        ...[...identityNames, ...simNames].map(requestField),
        { heading: "For your own use" },
        ...customerNames.map(requestField),
        ...Object.entries(boxes).map(([tick, label]) => ({ tick, label })),
      ],
    }),
    backLink(visit, "/activations", "All activations"),
  ]);
}

/** What was filled in, as the API's body. */
function bodyOf(form: Sent): Record<string, unknown> {
  const given = names.flatMap((name) => (field(form, name) === "" ? [] : [[name, field(form, name)]]));
  return { ...Object.fromEntries(given), confirm_date_change: field(form, "confirm_date_change") !== "" };
}

async function submit(visit: PortalVisit): Promise<Shown> {
  const { form, owner, write } = visit;
  requireOpenedHere(visit);
  const line = { ...owner, request: readActivation(bodyOf(form)), again: field(form, "again") !== "" };
  const { activation, replayed } = await write(submitOwn, line).catch((error: unknown) => {
    throw asLabeled(error);
  });
  const notice = replayed ? "This request was there before; nothing changed." : "The activation is submitted.";
  return { to: `/activations/${activation.id}`, notice };
}

/** A refusal that says what a program would send names the fields and boxes of the form in its place. */
function asLabeled(error: unknown): unknown {
  if (!(error instanceof Problem) || error.errors !== undefined) return error;
  const words = error.message
    .replace(/\b(\w+): true\b/, (sent, name) => (name in boxes ? `“${boxes[name]}”` : sent))
    .replace(/\b[a-z]+_[a-z_0-9]+\b/g, (word) => {
      const name = [...identityNames, ...simNames].find((one) => one === word);
      return name === undefined ? word : requestLabel(name);
    });
  return new Problem(error.slug, words, { members: error.members });
}

export const activationFormPages = [
  portalPage({ path: PATH, needs: "activations.write", show: formPage, act: submit, again: formPage }),
];

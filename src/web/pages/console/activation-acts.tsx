import { type Activation, requireActivation, toActivation } from "../../../core/activations/activation.ts";
import { moveByHand, operatorVerbs } from "../../../core/activations/operator.ts";
import { revealActivation } from "../../../core/activations/reveal.ts";
import { stateOf } from "../../../core/activations/states.ts";
import type { ActivationInside } from "../../../core/activations/waiting-of-activations.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import type { Read } from "../../../core/store/store.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { changeWords, links } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, idIn, type Shown } from "../../session/visit.ts";
import { failing, type HandVerb, moveIn } from "./hand-moves.ts";
import { identityFields, identityShown, requireSight } from "./identity.tsx";
import { personWords, phoneWords } from "./masked.ts";

const mobile: FieldOf = {
  ...{ name: "mobile", label: "Mobile number", required: true },
  hint: "As +61…, or as its country writes it.",
};

/** What an act is called, and its form. */
const acts: Readonly<Record<HandVerb, { title: string; done: string; fields: readonly FieldOf[] }>> = {
  confirm: {
    title: "Confirm",
    done: "is confirmed",
    fields: [{ name: "number", label: "The carrier's confirmation number", required: true }],
  },
  complete: { title: "Complete", done: "is completed", fields: [mobile] },
  fail: {
    title: "Fail",
    done: "has failed",
    fields: failing("sim_blocked"),
  },
  retry: { title: "Ask the carrier again", done: "goes to its carrier again", fields: [] },
  correct: { title: "Correct the number", done: "is corrected", fields: [mobile] },
};

// The keys of a record are its names.
const verbs = Object.keys(acts) as HandVerb[];

/** Links to what staff may do by hand in the state of a request, each of which shows first what comes of it. */
export function handLinks(visit: ConsoleVisit, activation: Activation, inside: ActivationInside) {
  const state = stateOf(activation);
  const possible = verbs.filter((verb) => {
    if (verb === "correct") return state === "completed";
    // Waiting for its carrier again it may be sent at once, too.
    if (verb === "retry" && inside.waiting?.act === "retry") return true;
    return operatorVerbs[verb].includes(state);
  });
  return links(
    visit,
    possible.map((verb) => [`/activations/${activation.id}/${verb}`, acts[verb].title]),
  );
}

/** One request as it is. Throws `not_found`, for the id of an order's item too. */
async function known(q: Read, id: ActivationId): Promise<Activation> {
  return toActivation(q, await requireActivation(q, id));
}

function consequenceWords(verb: HandVerb, [before, after]: readonly [Activation, Activation]): string {
  switch (verb) {
    case "confirm":
      return `is confirmed with ${after.confirmation_number}, and its partner is notified.`;
    case "complete":
      return `is completed for good with the number ${after.mobile_number}, and its partner is notified.`;
    case "fail":
      return `fails for good (${after.error_type}: ${after.error_message}), and its partner is notified.`;
    case "retry":
      return "goes to its carrier again at once, under the same reference, so that nothing is activated twice.";
    case "correct": {
      const old = phoneWords(before.mobile_number);
      return `changes its number from ${old} to ${after.mobile_number}; its partner is notified again.`;
    }
  }
}

const byHand = (verb: HandVerb) =>
  actPage({
    verb,
    read: (visit: ConsoleVisit) => visit.store.read(known, idIn(visit) as ActivationId), // the database decides
    at: ({ id }) => `/activations/${id}`,
    title: ({ iccid }) => `${acts[verb].title}: SIM ${iccid}`,
    button: acts[verb].title,
    bad: verb === "fail",
    fields: acts[verb].fields,
    command: moveByHand,
    input: (visit, { id }) => ({ id, move: moveIn(verb, visit, "number") }),
    foresee: (moved, before) => {
      // The id of an order's item was not found before.
      const after = moved.kind === "activation" ? moved.activation : before;
      const person = personWords(before.customer_name);
      const who = `SIM ${before.iccid}${person === null ? "" : ` of ${person}`}`;
      return [
        <p>{`${who} ${consequenceWords(verb, [before, after])}`}</p>,
        <p>{changeWords(stateOf(before), stateOf(after))}</p>,
      ];
    },
    done: (_moved, { iccid }) => `SIM ${iccid} ${acts[verb].done}.`,
  });

async function reveal(visit: ConsoleVisit): Promise<Shown> {
  requireSight(visit, "activations.read");
  const id = idIn(visit) as ActivationId; // the database decides whether it is one
  const { activation, customer_phone, identity } = await visit.write(revealActivation, { id });
  const { customer_email, mobile_number } = activation;
  const found = { ...identity?.reveal(), customer_email, customer_phone, mobile_number };
  const title = `Identity of SIM ${activation.iccid}`;
  return identityShown(visit, { title, fields: identityFields(found), back: `/activations/${id}` });
}

/** What staff do by hand, each under the request's address, and the one page that shows a whole identity. */
export const activationActPages = [
  ...verbs.map((verb) =>
    consolePage({ path: `/activations/:id/${verb}`, needs: "activations.write", ...byHand(verb) }),
  ),
  consolePage({ path: "/activations/:id/reveal", needs: "reveal", act: reveal, stepUp: true, secret: true }),
];

import type { RevealedActivation } from "../../../core/activations/reveal.ts";
import type { ActivationInside } from "../../../core/activations/waiting-of-activations.ts";
import type { Activation } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { activationId, ownerOfActivation } from "../../client/identifiers.ts";
import { type Context, command } from "../../frame/command.ts";
import { argument, flag } from "../../kernel/input.ts";
import { attemptsTable, insideFields } from "../../output/inside.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { activationAtHand } from "../../place/records-at-hand.ts";
import { ACTIVATION_JSON, activationFields } from "./view.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only. --reveal shows identity data: the audit trail keeps who saw it.",
  json:
    `the API's body: ${ACTIVATION_JSON}; on the operator's data without --partner also ` +
    "{partner, environment, waiting: {for, act, on, since} or null}; with --reveal customer_phone, identity, attempts",
  examples: ["activations show 8961032200826199583", "activations show 019c… --reveal"],
  args: { id: argument("id", "the request's id, or the ICCID of its SIM card, also of an ended one") },
  options: {
    reveal: flag("--reveal", "operators only: identity fields and exchanges with the carrier, any partner's"),
  },
  async run(context, { id, reveal }) {
    if (reveal) return revealed(context, id);
    const { body, inside } = await context.withApi(async (api) => {
      const asked = apiPath`/activations/${await activationId(api, id)}`;
      const answer = await api.request<Activation>("GET", asked);
      return { body: answer.body, inside: await insideOf(api, answer.body.id) };
    }, ownerOfActivation(id));
    // With --partner it prints what the partner reads at a server.
    const json = context.actsFor.partner === undefined ? { ...body, ...inside } : body;
    return recordResult(json, (sheet) => ({
      ...(inside === null ? {} : insideFields(inside)),
      ...activationFields(sheet, body),
    }));
  },
});

/** What the operator sees beyond the API; null at a server. */
async function insideOf({ local }: Api, id: string): Promise<ActivationInside | null> {
  if (local === undefined) return null;
  const { activationInside } = await import("../../../core/activations/waiting-of-activations.ts");
  return local.store.read(activationInside, id);
}

async function revealed(context: Context, typed: string): Promise<Result> {
  const { revealActivation } = await import("../../../core/activations/reveal.ts");
  const found = await context.withStore(async ({ store }) => {
    const { id } = await activationAtHand(store, typed);
    return store.write(revealActivation, { id, actor: OPERATOR });
  });
  const { activation, customer_phone, attempts } = found;
  const identity = found.identity?.reveal() ?? null;
  return {
    json: { ...activation, customer_phone, identity, attempts },
    text: (sheet) => revealedText(sheet, found),
  };
}

function revealedText(sheet: Sheet, { activation, customer_phone, identity, attempts }: RevealedActivation): string {
  const values = Object.entries(identity?.reveal() ?? {}).map(([name, value]) => [
    name.replaceAll("_", " "),
    shown(value),
  ]);
  const known = identity === null ? { identity: "purged" } : Object.fromEntries(values);
  const fields = sheet.fields({ ...activationFields(sheet, activation), telephone: shown(customer_phone), ...known });
  const empty = "Nothing was exchanged with the carrier yet.";
  return `${fields}\n\n${attemptsTable(sheet, attempts, { empty })}`;
}

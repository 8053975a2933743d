import type { RevealedActivation } from "../../../core/activations/reveal.ts";
import type { Activation } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { activationId, ownerOfActivation } from "../../client/named.ts";
import { type Context, command } from "../../frame/command.ts";
import { argument, flag } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { moment, shown } from "../../output/words.ts";
import { activationAtHand } from "../../place/named.ts";
import { OPERATOR } from "../../place/operator.ts";
import { ACTIVATION_JSON, activationFields } from "./view.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only. --reveal shows identity data: the audit trail keeps who saw it.",
  json: `the API's body: ${ACTIVATION_JSON}; with --reveal also customer_phone, identity and attempts`,
  examples: ["activations show 8961032200826199583", "activations show 019c… --reveal"],
  args: { id: argument("id", "the request's id, or the ICCID of its SIM card, also of an ended one") },
  options: {
    reveal: flag("--reveal", "operators only: identity fields and exchanges with the carrier, any partner's"),
  },
  async run(context, { id, reveal }) {
    if (reveal) return revealed(context, id);
    const { body } = await context.withApi(
      async (api) => api.request<Activation>("GET", apiPath`/activations/${await activationId(api, id)}`),
      ownerOfActivation(id),
    );
    return recordResult(body, (sheet) => activationFields(sheet, body));
  },
});

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
  const exchanges = sheet.table(
    [
      { title: "at", value: (one) => moment(one.at) },
      { title: "from", value: (one) => one.source },
      { title: "outcome", value: (one) => one.outcome },
      { title: "status", value: (one) => one.status_code, align: "right" },
      { title: "ms", value: (one) => one.latency_ms, align: "right" },
      { title: "answer", value: (one) => one.answer, shrinks: true },
    ],
    attempts,
    "Nothing was exchanged with the carrier yet.",
  );
  return `${fields}\n\n${exchanges}`;
}

import type { RevealedActivation } from "../../../core/activations/reveal.ts";
import type { ActivationId } from "../../../core/kernel/brand.ts";
import type { Store } from "../../../core/store/store.ts";
import type { Activation, PageBody } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { argument, flag } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { moment, shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { ACTIVATION_JSON, activationFields } from "./view.ts";

const ICCID = /^\d{13,20}$/;

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only. --reveal shows identity data: the audit trail keeps who saw it.",
  json: `the API's body: ${ACTIVATION_JSON}; with --reveal also customer_phone, identity and attempts`,
  examples: ["activations show 8961032200826199583", "activations show 019c… --reveal"],
  args: { id: argument("id", "the request's id, or the ICCID of its SIM card") },
  options: {
    reveal: flag("--reveal", "operators only: identity fields and exchanges with the carrier, any partner's"),
  },
  async run(context, { id, reveal }) {
    if (reveal) return revealed(context, id);
    const { body } = await context.withApi(
      async (api) => api.request<Activation>("GET", apiPath`/activations/${await activationId(api, id)}`),
      (store) => requestAtHand(store, id),
    );
    return recordResult(body, (sheet) => activationFields(sheet, body));
  },
});

async function revealed(context: Context, typed: string): Promise<Result> {
  const { revealActivation } = await import("../../../core/activations/reveal.ts");
  const found = await context.withStore(async ({ store }) => {
    const { id } = await requestAtHand(store, typed);
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

/** The id of the request that `given` names: of an ICCID's the newest, anything else stays. Throws `not_found`. */
async function activationId(api: Api, given: string): Promise<string> {
  const named = given.trim();
  if (!ICCID.test(named)) return named;
  const query = { iccid: named, limit: 1 };
  const { body } = await api.request<PageBody<Activation>>("GET", apiPath`/activations`, { query });
  return body.data[0]?.id ?? noRequest(named);
}

/** The request that `given` names, of any partner: by its id, or the one that holds an ICCID. Throws `not_found`. */
async function requestAtHand(store: Store, given: string) {
  const { holderOfIccid, requireActivation } = await import("../../../core/activations/activation.ts");
  const named = given.trim().toLowerCase();
  // A typed id: the database decides whether it exists.
  if (!ICCID.test(named)) return store.read(requireActivation, named as ActivationId);
  return (await store.read(holderOfIccid, named)) ?? noRequest(named);
}

function noRequest(iccid: string): never {
  const hint = `What ended: esimctl activations list --iccid ${iccid}; on the operator's host esimctl find ${iccid}`;
  throw new CliError("not_found", `No request holds the ICCID ${iccid}.`, hint);
}

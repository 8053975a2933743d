import { sandboxEsimEvents } from "../../../core/store/schema/values.ts";
import type { EsimStatus } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { esimIccid, ownerOfEsim } from "../../client/identifiers.ts";
import { command } from "../../frame/command.ts";
import { argument, choice, integer, required } from "../../kernel/input.ts";
import { ESIM_JSON, esimResult } from "../esim-record.ts";

export default command({
  target: "partner",
  sandboxOnly: true,
  effects: "Changes a sandbox eSIM as a report of its supplier would, with the same events.",
  json: `the API's body: ${ESIM_JSON}`,
  examples: [
    "sandbox esim 8999268001846529145 --event activated",
    "sandbox esim 8999268001846529145 --event usage --used-mb 900 --partner acme",
    "sandbox esim ORD-20260301-7KQ2M --event expired --partner acme --json",
  ],
  args: { esim: argument("iccid", "the eSIM's ICCID, or what names an order with one eSIM") },
  options: {
    event: required(choice("--event <event>", sandboxEsimEvents, "what happened")),
    usedMb: integer("--used-mb <n>", "megabytes used in all; needed with usage", { max: 1_000_000_000_000 }),
  },
  async run(context, { esim, event, usedMb }) {
    const body = { event, ...(usedMb === undefined ? {} : { used_mb: usedMb }) };
    return context.withApi(async (api) => {
      const path = apiPath`/sandbox/esims/${await esimIccid(api, esim)}`;
      return esimResult((await api.request<EsimStatus>("POST", path, { body })).body);
    }, ownerOfEsim(esim));
  },
});

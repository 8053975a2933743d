import type { EsimStatus } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { esimIccid, ownerOfEsim } from "../../client/identifiers.ts";
import { command } from "../../frame/command.ts";
import { ESIM_JSON, esimResult } from "../esim-record.ts";
import { esimArgument } from "./view.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only.",
  json: `the API's body: ${ESIM_JSON}`,
  examples: [
    "esims status 8944590004463637008",
    "esims status ORD-20260301-7KQ2M --partner acme",
    "esims status 8944590004463637008 --partner acme --json",
  ],
  args: { esim: esimArgument },
  options: {},
  async run(context, { esim }) {
    return context.withApi(async (api) => {
      const { body } = await api.request<EsimStatus>("GET", apiPath`/esims/${await esimIccid(api, esim)}/status`);
      return esimResult(body);
    }, ownerOfEsim(esim));
  },
});

import type { EsimStatus } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { ESIM_JSON, esimResult } from "./view.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only.",
  json: `the API's body: ${ESIM_JSON}`,
  examples: [
    "esims status 8944590004463637008 --partner acme",
    "esims status 8944590004463637008 --partner acme --json",
  ],
  args: { iccid: argument("iccid", "19 or 20 digits") },
  options: {},
  async run(context, { iccid }) {
    return context.withApi(async (api) => {
      const { body } = await api.request<EsimStatus>("GET", apiPath`/esims/${iccid}/status`);
      return esimResult(body);
    });
  },
});

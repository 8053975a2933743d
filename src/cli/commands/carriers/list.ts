import { command } from "../../frame/command.ts";
import { listResult } from "../../output/result.ts";
import { CARRIER_JSON, carrierColumns } from "./view.ts";

export const list = command({
  name: "list",
  summary: "all carriers, by ICCID prefix",
  target: "operator",
  effects: "Reads only.",
  json: `{data: [${CARRIER_JSON}], count}`,
  examples: ["carriers list"],
  args: {},
  options: {},
  async run(context) {
    const { listCarriers } = await import("../../../core/carriers/carrier.ts");
    const carriers = await context.withStore(({ store }) => store.read(listCarriers, null));
    return listResult(carriers, carrierColumns, "No carriers.");
  },
});

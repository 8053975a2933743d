import { command } from "../../frame/command.ts";
import { OPERATOR } from "../../place/operator.ts";
import { esimAtHand } from "../../place/records-at-hand.ts";
import { ESIM_JSON, esimResult } from "../esim-record.ts";
import { esimArgument } from "./view.ts";

export default command({
  target: "operator",
  effects: "The first time its validity begins and esim.activated goes out. An active one stays as it is.",
  json: ESIM_JSON,
  examples: ["esims activate 8944590004463637008"],
  args: { esim: esimArgument },
  options: {},
  async run(context, { esim }) {
    const { activateEsim } = await import("../../../core/esims/life.ts");
    return context.withStore(async ({ store }) => {
      const { iccid } = await esimAtHand(store, esim);
      return esimResult(await store.write(activateEsim, { iccid, actor: OPERATOR }));
    });
  },
});

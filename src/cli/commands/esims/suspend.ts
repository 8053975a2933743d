import { command } from "../../frame/command.ts";
import { OPERATOR } from "../../place/operator.ts";
import { esimAtHand } from "../../place/records-at-hand.ts";
import { whose } from "../../place/whose.ts";
import { ESIM_JSON, esimResult } from "../esim-record.ts";
import { esimArgument } from "./view.ts";

export default command({
  target: "operator",
  effects: "Its validity runs on meanwhile. Asks first.",
  json: ESIM_JSON,
  examples: ["esims suspend 8944590004463637008", "esims suspend 8944590004463637008 --yes"],
  args: { esim: esimArgument },
  options: {},
  async run(context, { esim }) {
    const [{ suspendEsim }, { requireRealEsim }] = await Promise.all([
      import("../../../core/esims/life.ts"),
      import("../../../core/esims/delivered.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const { iccid } = await esimAtHand(store, esim);
      const { esim: known } = await store.read(requireRealEsim, iccid);
      const open = known.status === "active" || known.status === "inactive";
      const question = `Suspend eSIM ${iccid}, which is ${known.status}?`;
      if (open) await context.confirm(question, { whose: await whose(store, { ...known, environment: "production" }) });
      return esimResult(await store.write(suspendEsim, { iccid, actor: OPERATOR }));
    });
  },
});

import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { ESIM_JSON, esimResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "The first time its validity begins and esim.activated goes out. An active one stays as it is.",
  json: ESIM_JSON,
  examples: ["esims activate 8944590004463637008"],
  args: { iccid: argument("iccid", "of a delivered eSIM") },
  options: {},
  async run(context, { iccid }) {
    const { activateEsim } = await import("../../../core/esims/life.ts");
    return context.withStore(async ({ store }) =>
      esimResult(await store.write(activateEsim, { iccid, actor: OPERATOR })),
    );
  },
});

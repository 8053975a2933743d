import { command } from "../../frame/command.ts";
import { listResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";
import { addressOf, addressOptions, TARGET_JSON, targetColumns } from "./view.ts";

export default command({
  target: "operator",
  effects: "Puts a test into the queue of every target, or of one; serve sends it within seconds.",
  json: `{data: [${TARGET_JSON}], count}`,
  examples: ["alerts test", "alerts test --email ops@example.com"],
  args: {},
  options: addressOptions,
  async run(context, given) {
    const { testAlerts } = await import("../../../core/alerts/targets.ts");
    const input = { only: addressOf(given), actor: OPERATOR };
    const targets = await context.withStore(({ store }) => store.write(testAlerts, input));
    const note = "On their way while serve runs. esimctl alerts list shows whether they arrived.";
    return { ...listResult(targets, targetColumns, "No targets."), note };
  },
});

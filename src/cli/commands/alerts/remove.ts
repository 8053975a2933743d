import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { OPERATOR } from "../../place/operator.ts";
import { addressOf, addressOptions, TARGET_JSON, targetResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Nothing is sent there any more; what waited is dropped. Give a webhook's whole URL.",
  json: TARGET_JSON,
  examples: ["alerts remove --email ops@example.com", "alerts remove --webhook https://ops.example.com/hook"],
  args: {},
  options: addressOptions,
  async run(context, given) {
    const address = addressOf(given);
    if (address === null) throw usageError("No target was named.", "Give --email or --webhook.");
    const { removeAlertTarget } = await import("../../../core/alerts/targets.ts");
    const input = { ...address, actor: OPERATOR };
    return context.withStore(async ({ store }) => targetResult({ ...(await store.write(removeAlertTarget, input)) }));
  },
});

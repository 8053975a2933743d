import { ABOUT_REMOVING, removalQuestion } from "../../../core/supply/source-words.ts";
import { command } from "../../frame/command.ts";
import { argument, required, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "operator",
  effects: `${ABOUT_REMOVING} The last source of a product that is on sale stays. Asks first.`,
  json: "{sku, supplier}",
  examples: ["sources remove ES-JP-1GB-7D --supplier ea"],
  args: { sku: argument("sku", "the product") },
  options: { supplier: required(text("--supplier <name>", "whose plan is taken away")) },
  async run(context, { sku, supplier }) {
    const { removeSource } = await import("../../../core/supply/sources.ts");
    await context.confirm(removalQuestion({ sku, supplier }));
    const input = { sku, supplier, actor: OPERATOR };
    const removed = await context.withStore(({ store }) => store.write(removeSource, input));
    return recordResult(removed, () => ({ sku, removed: supplier }));
  },
});

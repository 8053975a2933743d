import { counted } from "../../../core/kernel/counted.ts";
import { command } from "../../frame/command.ts";
import { integer, required, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "operator",
  effects: "Free eSIMs change their product, the newest first. What orders have reserved stays. Audited.",
  json: "{moved, from: {sku, available}, to: {sku, available}}",
  examples: ["stock move --from ES-EU-5GB-30D --to ES-EU-10GB-30D --count 20"],
  args: {},
  options: {
    from: required(text("--from <sku>", "the product whose stock it is")),
    to: required(text("--to <sku>", "the product whose stock it becomes")),
    count: required(integer("--count <n>", "how many eSIMs", { min: 1, max: 1_000_000 })),
  },
  async run(context, { from, to, count }) {
    const { moveStock } = await import("../../../core/esims/move-stock.ts");
    const done = await context.withStore(({ store }) => store.write(moveStock, { from, to, count, actor: OPERATOR }));
    return recordResult(done, () => ({
      moved: counted(done.moved, "eSIM"),
      [done.from.sku]: `${done.from.available} left`,
      [done.to.sku]: `${done.to.available} now`,
    }));
  },
});

import { counted } from "../../../core/kernel/counted.ts";
import { ABOUT_DELETING, KEPT_PRICES } from "../../../core/prices/words.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "operator",
  effects: `${ABOUT_DELETING} ${KEPT_PRICES} Refused while a partner has it. Asks first.`,
  json: "{name, rules (how many it had), deleted}",
  examples: ["prices delete gold-2025", "prices delete gold-2025 --yes"],
  args: { list: argument("list", "the price list") },
  options: {},
  async run(context, { list: name }) {
    const { deletePriceList } = await import("../../../core/prices/delete-list.ts");
    return context.withStore(async ({ store }) => {
      const { rules } = await store.rehearse(deletePriceList, { name, actor: OPERATOR });
      await context.confirm(`Delete the price list ${name} and its ${counted(rules, "rule")}? ${KEPT_PRICES}`);
      const gone = await store.write(deletePriceList, { name, actor: OPERATOR });
      return recordResult(gone, () => ({ deleted: gone.name, rules: String(gone.rules) }));
    });
  },
});

import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { moment } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { LIST_JSON, RULE_FIELDS } from "./view.ts";

export default command({
  target: "operator",
  effects: "Adds a list without rules: its prices are the catalog's until prices set gives it some.",
  fields: RULE_FIELDS,
  json: LIST_JSON,
  examples: ["prices create gold"],
  args: { list: argument("list", "its name: letters, digits, dots, underscores and hyphens") },
  options: {},
  async run(context, { list: name }) {
    const { createPriceList } = await import("../../../core/prices/lists.ts");
    const list = await context.withStore(({ store }) => store.write(createPriceList, { name, actor: OPERATOR }));
    return recordResult(list, () => ({ name: list.name, rules: "none yet", created: moment(list.created_at) }));
  },
});

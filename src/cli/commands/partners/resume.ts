import { command } from "../../frame/command.ts";
import { OPERATOR } from "../../place/operator.ts";
import { partnerArgument } from "../../place/partner-options.ts";
import { PARTNER_JSON, partnerResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Its credentials work again at once.",
  json: PARTNER_JSON,
  examples: ["partners resume acme"],
  args: { slug: partnerArgument },
  options: {},
  async run(context, { slug }) {
    const { resumePartner } = await import("../../../core/partners/suspend.ts");
    return partnerResult(await context.withStore(({ store }) => store.write(resumePartner, { slug, actor: OPERATOR })));
  },
});

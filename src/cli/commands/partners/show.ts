import { command } from "../../frame/command.ts";
import { partnerArgument } from "../../place/partner-options.ts";
import { PARTNER_JSON, partnerResult } from "./view.ts";

export default command({
  target: "operator",
  shows: "record",
  effects: "Reads only.",
  json: PARTNER_JSON,
  examples: ["partners show acme"],
  args: { slug: partnerArgument },
  options: {},
  async run(context, { slug }) {
    const { showPartner } = await import("../../../core/partners/partner.ts");
    return partnerResult(await context.withStore(({ store }) => store.read(showPartner, slug)));
  },
});

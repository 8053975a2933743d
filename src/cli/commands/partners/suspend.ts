import { command } from "../../frame/command.ts";
import { OPERATOR } from "../../place/operator.ts";
import { partnerArgument } from "../../place/partner-options.ts";
import { PARTNER_JSON, partnerResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Tokens stop working at once. Accepted orders, activations and deliveries go on. Asks first.",
  json: PARTNER_JSON,
  examples: ["partners suspend acme", "partners suspend acme --yes"],
  args: { slug: partnerArgument },
  options: {},
  async run(context, { slug }) {
    const [{ suspendPartner }, { showPartner }] = await Promise.all([
      import("../../../core/partners/suspend.ts"),
      import("../../../core/partners/partner.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const partner = await store.read(showPartner, slug);
      await context.confirm(`Suspend ${partner.slug}? Its API access stops at once.`);
      return partnerResult(await store.write(suspendPartner, { slug, actor: OPERATOR }));
    });
  },
});

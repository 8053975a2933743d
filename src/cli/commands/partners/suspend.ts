import { command } from "../../frame/command.ts";
import { text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { partnerArgument } from "../../place/partner-options.ts";
import { PARTNER_JSON, partnerResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Tokens stop working at once. Accepted orders, activations and deliveries go on. Asks first.",
  json: PARTNER_JSON,
  examples: ["partners suspend acme", 'partners suspend acme --reason "unpaid since May" --yes'],
  args: { slug: partnerArgument },
  options: { reason: text("--reason <text>", "why, for operators: partners show and the audit trail have it") },
  async run(context, { slug, reason = null }) {
    const [{ suspendPartner }, { showPartner }] = await Promise.all([
      import("../../../core/partners/suspend.ts"),
      import("../../../core/partners/partner.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const partner = await store.read(showPartner, slug);
      await context.confirm(`Suspend ${partner.slug}? Its API access stops at once.`);
      return partnerResult(await store.write(suspendPartner, { slug, reason, actor: OPERATOR }));
    });
  },
});

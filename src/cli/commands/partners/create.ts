import { tiers } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { argument, choice, flag, required, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { PARTNER_JSON, partnerResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Adds the partner; it can do nothing until it has a credential.",
  json: PARTNER_JSON,
  examples: [
    'partners create acme --name "Acme Travel"',
    'partners create acme --name "Acme Travel" --tier premium --agent --production',
  ],
  args: { slug: argument("slug", "short name: lower-case letters, digits and hyphens") },
  options: {
    name: required(text("--name <name>", "the name people read")),
    tier: choice("--tier <tier>", tiers, "60 or 300 requests a minute"),
    agent: flag("--agent", "may use the identity pool and bulk activations"),
    production: flag("--production", "may have live credentials"),
  },
  async run(context, { slug, name, tier = "standard", agent, production }) {
    const { createPartner } = await import("../../../core/partners/create.ts");
    const input = { slug, name, tier, agent, production, actor: OPERATOR };
    return partnerResult(await context.withStore(({ store }) => store.write(createPartner, input)));
  },
});

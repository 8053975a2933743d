import { tiers } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { choice, integer, toggle } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { partnerArgument } from "../../place/partner-options.ts";
import { PARTNER_JSON, partnerResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Holds at the daemon's next request. --no-production makes live credentials invalid until it is given back.",
  json: PARTNER_JSON,
  examples: ["partners update acme --tier premium", "partners update acme --production --rate-limit 600"],
  args: { slug: partnerArgument },
  options: {
    tier: choice("--tier <tier>", tiers, "60 or 300 requests a minute"),
    agent: toggle("agent", "the identity pool and bulk activations"),
    production: toggle("production", "live credentials"),
    rateLimit: integer("--rate-limit <n>", "requests a minute; 0 goes back to the tier's", { max: 100_000 }),
  },
  async run(context, { slug, tier, agent, production, rateLimit }) {
    const changes = {
      ...(tier === undefined ? {} : { tier }),
      ...(agent === undefined ? {} : { agent }),
      ...(production === undefined ? {} : { production }),
      ...(rateLimit === undefined ? {} : { rateLimit: rateLimit === 0 ? null : rateLimit }),
    };
    if (Object.keys(changes).length === 0) {
      throw usageError("There is nothing to change.", "Give --tier, --agent, --production or --rate-limit.");
    }
    const { updatePartner } = await import("../../../core/partners/update.ts");
    const input = { slug, ...changes, actor: OPERATOR };
    return partnerResult(await context.withStore(({ store }) => store.write(updatePartner, input)));
  },
});

import { MOST_PER_MINUTE, partnerBounds, tiers } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { bound, choice, decimalOrNone, integer, text, textOrNot, toggle } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { partnerArgument } from "../../place/partner-options.ts";
import { thresholdOptions, thresholdsAsked } from "./thresholds.ts";
import { PARTNER_JSON, partnerResult } from "./view.ts";

const most = {
  max_endpoints: bound(
    "--max-endpoints <n>",
    "webhook endpoints in each environment (default 100)",
    maxOf("max_endpoints"),
  ),
  max_pool: bound("--max-pool <n>", "passports in the pool of each environment", maxOf("max_pool")),
  max_open_activations: bound(
    "--max-open-activations <n>",
    "open activation requests in production",
    maxOf("max_open_activations"),
  ),
  max_sandbox_activations: bound(
    "--max-sandbox-activations <n>",
    "open activation requests in the sandbox (default 1000)",
    maxOf("max_sandbox_activations"),
  ),
  max_pending_deliveries: bound(
    "--max-pending-deliveries <n>",
    "deliveries that wait for one endpoint; further ones are held",
    maxOf("max_pending_deliveries"),
  ),
  max_days_ahead: bound("--max-days-ahead <n>", "days from today to an activation date", maxOf("max_days_ahead")),
  max_requests_per_minute: bound(
    "--max-requests-per-minute <n>",
    "requests a minute over all credentials of an environment (default: five times --rate-limit)",
    maxOf("max_requests_per_minute"),
  ),
};

function maxOf(name: keyof typeof partnerBounds): { max: number } {
  return { max: partnerBounds[name].most };
}

export default command({
  target: "operator",
  effects:
    "Holds at the daemon's next request. --no-production makes live credentials invalid until it is given back. " +
    "What is above a new limit stays; nothing more is accepted. A limit of none goes back to the default. Thresholds " +
    "hold for what crosses them from then on; those of none send no events. Orders draw on a credit line what the " +
    "wallet lacks; money that comes in repays it first. What is drawn above a new line stays.",
  json: PARTNER_JSON,
  examples: [
    "partners update acme --tier premium",
    "partners update acme --production --rate-limit 600",
    "partners update acme --max-endpoints 20 --max-days-ahead 365 --max-pool none",
    "partners update acme --no-sandbox-activations",
    "partners update acme --low-wallet 100.00 --currency AUD --low-data 80,100 --expiry-days default",
    "partners update acme --credit-line 5000.00 --currency AUD",
    'partners update acme --support "help@acme.example, +61 2 5550 1234"',
    "partners update acme --price-list gold",
    "partners update acme --credit-line none --currency AUD",
  ],
  args: { slug: partnerArgument },
  options: {
    tier: choice("--tier <tier>", tiers, "60 or 300 requests a minute"),
    agent: toggle("agent", "the identity pool and bulk activations"),
    production: toggle("production", "live credentials"),
    rateLimit: integer("--rate-limit <n>", "requests a minute; 0 goes back to the tier's", { max: MOST_PER_MINUTE }),
    sandboxActivations: toggle("sandbox-activations", "activation requests by sandbox credentials"),
    creditLine: decimalOrNone(
      "--credit-line <amount>",
      "what orders may draw beyond the balance, e.g. 5000.00; or none",
    ),
    priceList: textOrNot("price-list", "list", "whose prices it has; --no-price-list: the catalog's"),
    support: text("--support <text>", 'how its customers reach it, as install pages say it; "" for no word on it'),
    ...most,
    ...thresholdOptions,
  },
  async run(context, { slug, tier, agent, production, rateLimit, sandboxActivations, creditLine, priceList, ...more }) {
    const { support, ...rest } = more;
    const { lowWallet, currency, lowData, expiryDays, ...bounds } = rest;
    refuseCurrencyAlone(currency, [lowWallet, creditLine]);
    const credit = await creditLineOf(creditLine, currency?.toUpperCase());
    const given = Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
    const thresholds = await thresholdsAsked(context, { slug, lowWallet, currency, lowData, expiryDays });
    const changes = {
      ...(tier === undefined ? {} : { tier }),
      ...(agent === undefined ? {} : { agent }),
      ...(production === undefined ? {} : { production }),
      ...(rateLimit === undefined ? {} : { rateLimit: rateLimit === 0 ? null : rateLimit }),
      ...(sandboxActivations === undefined ? {} : { sandboxActivations }),
      ...(priceList === undefined ? {} : { priceList }),
      ...(support === undefined ? {} : { support: support.trim() || null }),
      ...(credit === null ? {} : { creditLine: credit }),
      ...(Object.keys(given).length === 0 ? {} : { bounds: given }),
      ...(thresholds === null ? {} : { thresholds }),
    };
    if (Object.keys(changes).length === 0) {
      throw usageError(
        "There is nothing to change.",
        "Give --tier, --agent, --production, --rate-limit, --price-list, a limit or a threshold.",
      );
    }
    const { updatePartner } = await import("../../../core/partners/update.ts");
    const input = { slug, ...changes, actor: OPERATOR };
    return partnerResult(await context.withStore(({ store }) => store.write(updatePartner, input)));
  },
});

/** Throws a usage error for a currency of which nothing is set. */
function refuseCurrencyAlone(currency: string | undefined, amounts: readonly unknown[]): void {
  if (currency === undefined || amounts.some((amount) => amount !== undefined)) return;
  const hint = "Give an amount too, e.g. --low-wallet 100.00 --currency AUD.";
  throw usageError("--currency goes with --low-wallet or --credit-line.", hint);
}

/** The credit line to set; null: none was given. Throws a usage error where its currency is missing. */
async function creditLineOf(amount: string | null | undefined, currency: string | undefined) {
  if (amount === undefined) return null;
  if (currency === undefined) {
    throw usageError("--credit-line needs --currency.", "Give both, e.g. --credit-line 5000.00 --currency AUD.");
  }
  const { parseAmount } = await import("../../kernel/amount.ts");
  return { currency, cents: parseAmount(amount ?? "0", currency, "--credit-line") };
}

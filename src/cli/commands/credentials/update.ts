import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument, decimalOrNone, text, toggle } from "../../kernel/input.ts";
import { dated } from "../../kernel/input-time.ts";
import { OPERATOR } from "../../place/operator.ts";
import { CREDENTIAL_JSON, credentialResult } from "./view.ts";

const expires = dated("--expires <date>", "from when on it is invalid: 2027-06-30 (its first moment, UTC), or none");

export default command({
  target: "operator",
  effects:
    "Changes the guard rails of a credential, from its next request on; what is left out stays, none takes one away. " +
    "Amounts are in each currency's own units; with --currency they are of that currency, and go before those of " +
    "all. A cap per UTC day counts all orders of today; refunds do not lower the count.",
  json: CREDENTIAL_JSON,
  examples: [
    "credentials update sk_live_0123 --ip 203.0.113.0/24,2001:db8::/32",
    "credentials update sk_live_0123 --per-order 200.00 --per-day 1000.00 --expires 2027-06-30",
    "credentials update sk_live_0123 --per-day 100000 --currency JPY",
    "credentials update sk_live_0123 --no-identity",
    "credentials update sk_live_0123 --ip none --per-order none --per-day none --expires none",
  ],
  args: { clientId: argument("client-id", "the credential") },
  options: {
    ip: text("--ip <networks>", "networks or addresses that it may be used from, separated by commas; or none"),
    perOrder: decimalOrNone("--per-order <amount>", "what one order may cost; or none"),
    perDay: decimalOrNone("--per-day <amount>", "what the orders of one UTC day may cost; or none"),
    currency: text("--currency <code>", "the currency of --per-order and --per-day; left out: every currency"),
    identity: toggle("identity", "let it handle passports and activations' identities, or keep it from them"),
    expires: { ...expires, read: (given: unknown) => (given === "none" ? null : expires.read(given)) },
  },
  async run(context, { clientId, ip, perOrder, perDay, currency, identity, expires: expiresAt }) {
    const caps = perOrder !== undefined || perDay !== undefined;
    if (currency !== undefined && !caps) {
      throw usageError("--currency goes with --per-order or --per-day.", "Give one of them, or leave it out.");
    }
    if (!caps && ip === undefined && expiresAt === undefined && identity === undefined) {
      throw usageError("There is nothing to change.", "Give --ip, --per-order, --per-day, --expires or --no-identity.");
    }
    const change = {
      clientId,
      ...(ip === undefined ? {} : { addresses: ip === "none" ? null : ip.split(",").map((one) => one.trim()) }),
      ...(perOrder === undefined ? {} : { perOrder }),
      ...(perDay === undefined ? {} : { perDay }),
      ...(identity === undefined ? {} : { identity }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      currency: currency?.toUpperCase() ?? null,
      actor: OPERATOR,
    };
    const { updateCredential } = await import("../../../core/credentials/update.ts");
    return credentialResult(await context.withStore(({ store }) => store.write(updateCredential, change)));
  },
});

import { defineEvent } from "./definition.ts";
import { cents, currency, payload } from "./payload.ts";

/** Events about a partner's wallet, which production alone has. */
export const walletEvents = {
  "wallet.low": defineEvent({
    when:
      "A balance falls below the threshold that the operator set for its currency; again only after it was at the " +
      "threshold or above for an hour. Production alone.",
    emitted: true,
    subject: "wallet",
    namesPeople: false,
    data: payload({
      currency,
      balance_cents: cents,
      threshold_cents: { ...cents, description: "The least balance that is not low, in minor units of the currency" },
    }),
    sample: () => ({ currency: "AUD", balance_cents: 8_750, threshold_cents: 10_000 }),
  }),
};

import { defineEvent } from "./definition.ts";
import { cents, currency, listOf, payload, text, uuid } from "./payload.ts";

/** What of a product has an event when it changes: its price, its status and its allowance. */
export const watchedFields = ["price_cents", "currency", "status", "data_amount_mb", "validity_days"] as const;

/** Events about the catalog. */
export const productEvents = {
  "product.updated": defineEvent({
    when:
      "Price, status, data or validity of a product changes. Sent to endpoints that ask for it, and in the feed of a " +
      "partner and environment from its first read on.",
    emitted: true,
    subject: "product",
    namesPeople: false,
    data: payload({
      id: uuid,
      sku: text,
      changed: { ...listOf({ type: "string", enum: watchedFields }), description: "Names of the fields that changed" },
      price_cents: cents,
      currency,
      status: { type: "string", enum: ["active", "inactive", "out_of_stock"] },
    }),
    sample: ({ subjectId: id }) => ({
      id,
      sku: "ES-EU-5GB-30D",
      changed: ["price_cents"],
      price_cents: 1_190,
      currency: "AUD",
      status: "active",
    }),
  }),
};

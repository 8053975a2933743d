/**
 * What the v1 API answers, from the schemas that the daemon writes its answers by: types alone, so that a command loads
 * nothing of them.
 */
import type { Static } from "typebox";
import type * as activations from "../../daemon/schemas/activation.ts";
import type * as catalog from "../../daemon/schemas/catalog.ts";
import type { Pagination } from "../../daemon/schemas/common.ts";
import type * as credentials from "../../daemon/schemas/credential.ts";
import type * as delivered from "../../daemon/schemas/delivered-order.ts";
import type * as esims from "../../daemon/schemas/esim.ts";
import type * as events from "../../daemon/schemas/event.ts";
import type * as orders from "../../daemon/schemas/order.ts";
import type * as passports from "../../daemon/schemas/passport.ts";
import type * as products from "../../daemon/schemas/product.ts";
import type * as quotes from "../../daemon/schemas/quote.ts";
import type * as sandbox from "../../daemon/schemas/sandbox.ts";
import type * as search from "../../daemon/schemas/search.ts";
import type * as statements from "../../daemon/schemas/statement.ts";
import type * as topups from "../../daemon/schemas/topup.ts";
import type * as wallet from "../../daemon/schemas/wallet.ts";
import type * as webhooks from "../../daemon/schemas/webhook.ts";

/** A list with cursors. */
export interface PageBody<T> {
  data: T[];
  pagination: Static<typeof Pagination>;
}

export type Activation = Static<typeof activations.Activation>;
export type ActivationBulkResult = Static<typeof activations.BulkActivationResult>;
/** What came of one request of a bulk change. */
export type ActivationOutcome = ActivationBulkResult["results"][number];
export type ActivationBulkSubmitted = Static<typeof activations.BulkSubmitResult>;
export type CatalogSync = Static<typeof catalog.CatalogSync>;
export type Credential = Static<typeof credentials.Credential>;
export type CredentialSecret = Static<typeof credentials.CredentialSecret>;
export type EventPage = Static<typeof events.EventPage>;
export type FeedEvent = EventPage["data"][number];
export type EsimStatus = Static<typeof esims.EsimStatus>;
export type Order = Static<typeof orders.Order>;
export type CreatedOrder = Static<typeof orders.CreatedOrder>;
export type OrderWithFulfillment = Static<typeof delivered.OrderWithFulfillment>;
export type OrderEsims = Static<typeof orders.OrderEsims>;
export type OrderBulkResult = Static<typeof orders.BulkResult>;
export type PassportPage = Static<typeof passports.PassportPage>;
export type PassportImportResult = Static<typeof passports.PassportImportResult>;
export type PassportEdited = Static<typeof passports.PassportEdited>;
export type PassportWithdrawn = Static<typeof passports.PassportWithdrawn>;
export type SearchResult = Static<typeof search.SearchResult>;
export type Product = Static<typeof products.Product>;
export type ProductDetail = Static<typeof products.ProductDetail>;
export type OwnEsim = Static<typeof orders.EsimPage>["data"][number];
export type Quote = Static<typeof quotes.Quote>;
export type OrderBulkQuote = Static<typeof quotes.BulkQuote>;
export type Statement = Static<typeof statements.Statement>;
export type Topup = Static<typeof topups.Topup>;
export type TopupProducts = Static<typeof topups.TopupProducts>;
export type WalletTransaction = Static<typeof wallet.WalletTransactionPage>["data"][number];
export type SandboxClock = Static<typeof sandbox.SandboxClock>;
export type WalletBalances = Static<typeof wallet.WalletBalances>;
export type Webhook = Static<typeof webhooks.Webhook>;
export type WebhookDetail = Static<typeof webhooks.WebhookDetail>;
export type WebhookChange = Static<typeof webhooks.WebhookChange>;
export type RotatedWebhook = Static<typeof webhooks.RotatedWebhook>;
export type OwnDelivery = Static<typeof webhooks.DeliveryPage>["data"][number];
export type Replayed = Static<typeof webhooks.Replayed>;
export type SampleSent = Static<typeof webhooks.SampleSent>;
export type CreatedWebhook = Static<typeof webhooks.CreatedWebhook>;

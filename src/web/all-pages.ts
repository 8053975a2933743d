import { accountPages } from "./pages/account.tsx";
import { consoleActivationPages } from "./pages/console/activations.tsx";
import { auditPages } from "./pages/console/audit.tsx";
import { carrierPages } from "./pages/console/carriers.tsx";
import { consoleCatalogPages } from "./pages/console/catalog.tsx";
import { catalogImportPages } from "./pages/console/catalog-import.tsx";
import { deliveryPages } from "./pages/console/deliveries.tsx";
import { esimSettlePages } from "./pages/console/esim-settle.tsx";
import { esimSupplierPages } from "./pages/console/esim-supplier.tsx";
import { consoleEsimPages } from "./pages/console/esims.tsx";
import { consoleFindPages } from "./pages/console/find.tsx";
import { fxPages } from "./pages/console/fx-rates.tsx";
import { logLinePages } from "./pages/console/log-lines.tsx";
import { logPages } from "./pages/console/logs.tsx";
import { moneyPages } from "./pages/console/money.tsx";
import { fundingPages } from "./pages/console/money-funding.tsx";
import { ledgerPages } from "./pages/console/money-ledger.tsx";
import { topupPages } from "./pages/console/money-topups.tsx";
import { consoleOrderPages } from "./pages/console/orders.tsx";
import { ordersPausePages } from "./pages/console/orders-pause.tsx";
import { partnerPages } from "./pages/console/partner.tsx";
import { partnerCredentialPages } from "./pages/console/partner-credential.tsx";
import { partnerCredentialsPages } from "./pages/console/partner-credentials.tsx";
import { partnerEndpointPages } from "./pages/console/partner-endpoints.tsx";
import { partnerPricePages } from "./pages/console/partner-prices.tsx";
import { partnerSettingsPages } from "./pages/console/partner-settings.tsx";
import { partnerStatementPages } from "./pages/console/partner-statements.tsx";
import { partnerAccessPages } from "./pages/console/partner-suspend.tsx";
import { partnerThresholdPages } from "./pages/console/partner-thresholds.tsx";
import { partnerUsersPages } from "./pages/console/partner-users.tsx";
import { partnerWalletPages } from "./pages/console/partner-wallet.tsx";
import { partnersPages } from "./pages/console/partners.tsx";
import { consolePassportPages } from "./pages/console/passports.tsx";
import { platformPages } from "./pages/console/platform.tsx";
import { priceImportPages } from "./pages/console/price-import.tsx";
import { priceRulesPages } from "./pages/console/price-list.tsx";
import { priceListDeletePages } from "./pages/console/price-list-delete.tsx";
import { priceListPages } from "./pages/console/price-lists.tsx";
import { priceRulePages } from "./pages/console/price-rule.tsx";
import { stockPages } from "./pages/console/stock.tsx";
import { stockMovePages } from "./pages/console/stock-move.tsx";
import { supplierSyncPages } from "./pages/console/supplier-sync.tsx";
import { supplierPages } from "./pages/console/suppliers.tsx";
import { todayPages } from "./pages/console/today.tsx";
import { userPages } from "./pages/console/users.tsx";
import { invitationPages } from "./pages/invitation.tsx";
import { activationCalendarPages } from "./pages/portal/activation-calendar.tsx";
import { activationFormPages } from "./pages/portal/activation-form.tsx";
import { activationPages } from "./pages/portal/activations.tsx";
import { activationFilePages } from "./pages/portal/activations-file.tsx";
import { catalogPages } from "./pages/portal/catalog.tsx";
import { catalogExportPages } from "./pages/portal/catalog-export.tsx";
import { developerPages } from "./pages/portal/developers.tsx";
import { esimPages } from "./pages/portal/esims.tsx";
import { eventPages } from "./pages/portal/events.tsx";
import { orderPages } from "./pages/portal/orders.tsx";
import { bulkOrderPages } from "./pages/portal/orders-bulk.tsx";
import { overviewPages } from "./pages/portal/overview.tsx";
import { passportPages } from "./pages/portal/passports.tsx";
import { passportImportPages } from "./pages/portal/passports-import.tsx";
import { refusedPages } from "./pages/portal/refused-requests.tsx";
import { sandboxPages } from "./pages/portal/sandbox.tsx";
import { statementPages } from "./pages/portal/statements.tsx";
import { teamPages } from "./pages/portal/team.tsx";
import { walletPages } from "./pages/portal/wallet.tsx";
import { webhookPages } from "./pages/portal/webhook-acts.tsx";
import { webhookDeliveryPages } from "./pages/portal/webhook-deliveries.tsx";
import { webhookReplayPages } from "./pages/portal/webhook-replay.tsx";
import { webhooksPages } from "./pages/portal/webhooks.tsx";
import { signInPages } from "./pages/sign-in.tsx";
import type { RegisteredPage } from "./session/page.ts";

/** Every page of both faces: the one list of them. */
export const allPages: readonly RegisteredPage[] = [
  ...signInPages,
  ...invitationPages,
  ...accountPages,
  ...overviewPages,
  ...catalogPages,
  ...catalogExportPages,
  ...orderPages,
  ...bulkOrderPages,
  ...esimPages,
  ...activationPages,
  ...activationFormPages,
  ...activationFilePages,
  ...activationCalendarPages,
  ...walletPages,
  ...statementPages,
  ...passportPages,
  ...passportImportPages,
  ...developerPages,
  ...consoleOrderPages,
  ...consoleActivationPages,
  ...consolePassportPages,
  ...consoleEsimPages,
  ...esimSettlePages,
  ...esimSupplierPages,
  ...consoleFindPages,
  ...webhooksPages,
  ...webhookPages,
  ...webhookDeliveryPages,
  ...webhookReplayPages,
  ...eventPages,
  ...sandboxPages,
  ...teamPages,
  ...consoleCatalogPages,
  ...catalogImportPages,
  ...priceListPages,
  ...priceRulesPages,
  ...priceRulePages,
  ...priceImportPages,
  ...priceListDeletePages,
  ...fxPages,
  ...stockPages,
  ...stockMovePages,
  ...supplierPages,
  ...supplierSyncPages,
  ...carrierPages,
  ...platformPages,
  ...auditPages,
  ...logPages,
  ...logLinePages,
  ...userPages,
  ...todayPages,
  ...partnersPages,
  ...partnerPages,
  ...partnerAccessPages,
  ...partnerWalletPages,
  ...partnerStatementPages,
  ...partnerPricePages,
  ...partnerEndpointPages,
  ...partnerSettingsPages,
  ...partnerThresholdPages,
  ...partnerCredentialsPages,
  ...partnerCredentialPages,
  ...partnerUsersPages,
  ...moneyPages,
  ...fundingPages,
  ...ledgerPages,
  ...topupPages,
  ...deliveryPages,
  ...ordersPausePages,
  ...refusedPages,
];

import { bulkCancel, bulkReschedule } from "../../core/activations/bulk.ts";
import { cancelActivation } from "../../core/activations/cancel.ts";
import { editIdentity } from "../../core/activations/edit-identity.ts";
import {
  claimExchanges,
  leaveOverdueToStaff,
  releaseExchanges,
  takeCallback,
} from "../../core/activations/exchange.ts";
import { applyOutcome } from "../../core/activations/outcome.ts";
import { pickUpDue, releaseScheduled } from "../../core/activations/pickup.ts";
import { rescheduleActivation } from "../../core/activations/reschedule.ts";
import { submitActivation } from "../../core/activations/submit.ts";
import { submitLine } from "../../core/activations/submit-line.ts";
import { claimTargets, recordSent } from "../../core/alerts/queue.ts";
import { settleAlerts } from "../../core/alerts/settle.ts";
import { ensureCarriers } from "../../core/carriers/seed.ts";
import { announceChanges } from "../../core/catalog/announce.ts";
import { followStock } from "../../core/catalog/follow-stock.ts";
import { createOwnCredential, deleteOwnCredential, rotateOwnCredential } from "../../core/credentials/own.ts";
import { ensureSigningKey } from "../../core/credentials/signing-keys.ts";
import { expireDueEsims } from "../../core/esims/expire.ts";
import { announceExpiring } from "../../core/esims/expiring.ts";
import { takeEsimReport } from "../../core/esims/supplier-report.ts";
import { signHeads } from "../../core/evidence/sign.ts";
import { markFeedRead } from "../../core/feed/mark-read.ts";
import { recordCronRun } from "../../core/insight/cron-runs.ts";
import { addRequestCounts } from "../../core/insight/rates.ts";
import { createOrder } from "../../core/orders/create.ts";
import { claimOrders, fulfillLeased, postponeOrder, releaseOrders } from "../../core/orders/due.ts";
import { purgeSandboxStep } from "../../core/orders/purge-sandbox.ts";
import { auditCodesRead } from "../../core/orders/read-audit.ts";
import { editPassport } from "../../core/passports/edit.ts";
import { announceExpiringPassports } from "../../core/passports/expiring.ts";
import { importPassports } from "../../core/passports/import.ts";
import { auditPoolRead } from "../../core/passports/list.ts";
import { withdrawPassport } from "../../core/passports/withdraw.ts";
import { releaseCron, takeCron } from "../../core/platform/cron-lease.ts";
import { writeHeartbeat } from "../../core/platform/heartbeat.ts";
import { releaseLeases } from "../../core/platform/lease.ts";
import { endOutage, recordFailure } from "../../core/platform/outages.ts";
import { recordBeat, recordStop } from "../../core/platform/serving.ts";
import { adoptSettings } from "../../core/platform/settings.ts";
import { advanceClock, resetClock } from "../../core/sandbox/clock.ts";
import { reportSandboxEsim } from "../../core/sandbox/report.ts";
import { settleStep } from "../../core/sandbox/settle.ts";
import type { Command } from "../../core/store/store.ts";
import { applySupplyOutcome } from "../../core/supplier-requests/apply-outcome.ts";
import { takeSupplierCallback } from "../../core/supplier-requests/callback.ts";
import { claimItems, postponeItem, releaseItems, reviewOverdueItems } from "../../core/supplier-requests/due.ts";
import { playSupplier } from "../../core/supplier-requests/scenario.ts";
import { requestFunding } from "../../core/wallet/funding.ts";
import { createWebhook } from "../../core/webhooks/create.ts";
import { deleteWebhook } from "../../core/webhooks/delete.ts";
import { recordAndClaim, releaseDeliveries } from "../../core/webhooks/due.ts";
import { applyOutcomes } from "../../core/webhooks/outcome.ts";
import { redeliver, replayStep } from "../../core/webhooks/redeliver.ts";
import { purgeStep } from "../../core/webhooks/retention.ts";
import { rotateWebhookSecret } from "../../core/webhooks/rotate-secret.ts";
import { sendSample } from "../../core/webhooks/send-sample.ts";
import { updateWebhook } from "../../core/webhooks/update.ts";

/**
 * Every command that the daemon, and a large import of the terminal, writes with. A writer in another thread finds a
 * command by its name here. One that is missing is refused where it is used.
 */
export const commands = {
  addRequestCounts,
  adoptSettings,
  advanceClock,
  announceChanges,
  announceExpiring,
  announceExpiringPassports,
  applyOutcome,
  applyOutcomes,
  applySupplyOutcome,
  auditCodesRead,
  auditPoolRead,
  bulkCancel,
  bulkReschedule,
  cancelActivation,
  claimExchanges,
  claimItems,
  claimOrders,
  claimTargets,
  createOrder,
  createOwnCredential,
  createWebhook,
  deleteOwnCredential,
  deleteWebhook,
  editIdentity,
  editPassport,
  endOutage,
  ensureCarriers,
  ensureSigningKey,
  expireDueEsims,
  followStock,
  fulfillLeased,
  importPassports,
  leaveOverdueToStaff,
  markFeedRead,
  pickUpDue,
  playSupplier,
  postponeItem,
  postponeOrder,
  purgeSandboxStep,
  purgeStep,
  recordBeat,
  recordCronRun,
  recordFailure,
  recordSent,
  recordStop,
  redeliver,
  releaseCron,
  recordAndClaim,
  releaseDeliveries,
  releaseExchanges,
  releaseItems,
  releaseLeases,
  releaseOrders,
  releaseScheduled,
  replayStep,
  reportSandboxEsim,
  requestFunding,
  rescheduleActivation,
  resetClock,
  reviewOverdueItems,
  rotateOwnCredential,
  rotateWebhookSecret,
  sendSample,
  settleAlerts,
  settleStep,
  signHeads,
  submitActivation,
  submitLine,
  takeCallback,
  takeCron,
  takeEsimReport,
  takeSupplierCallback,
  updateWebhook,
  withdrawPassport,
  writeHeartbeat,
} satisfies Record<string, Command<never, unknown>>;

export type CommandName = keyof typeof commands;

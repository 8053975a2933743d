import { acceptInvitation } from "../../core/accounts/accept-invitation.ts";
import {
  disableUser,
  enableUser,
  removeFromPartner,
  renameUser,
  requireFactor,
  updateUser,
} from "../../core/accounts/change-user.ts";
import { addPasskey, beginTotp, confirmTotp, removeFactor, renewRecoveryCodes } from "../../core/accounts/factors.ts";
import { claimInvitations, forgetTokens, recordMailed } from "../../core/accounts/invitation-mail.ts";
import { inviteUser, resetUser } from "../../core/accounts/invite.ts";
import {
  endSession,
  keepChallenge,
  keepProof,
  switchEnvironment,
  touchSession,
  viewAs,
} from "../../core/accounts/sessions.ts";
import { changePassword, enterInvited, proveByCode, proveByPasskey, signIn } from "../../core/accounts/sign-in.ts";
import { failSignIn } from "../../core/accounts/sign-in-attempts.ts";
import { resetMember } from "../../core/accounts/team.ts";
import { bulkCancel, bulkReschedule } from "../../core/activations/bulk.ts";
import { cancelActivation } from "../../core/activations/cancel.ts";
import {
  claimExchanges,
  leaveOverdueToStaff,
  releaseExchanges,
  takeCallback,
} from "../../core/activations/carrier-exchange.ts";
import { changeMany, changeManyByForm } from "../../core/activations/change-many.ts";
import { editIdentity } from "../../core/activations/edit-identity.ts";
import { moveByHand } from "../../core/activations/operator.ts";
import { applyOutcome } from "../../core/activations/outcome.ts";
import { pickUpDue, releaseScheduled } from "../../core/activations/pickup.ts";
import { rescheduleActivation } from "../../core/activations/reschedule.ts";
import { revealActivation } from "../../core/activations/reveal.ts";
import { submitActivation } from "../../core/activations/submit.ts";
import { submitLine } from "../../core/activations/submit-line.ts";
import { submitLinesInVain, submitOwn } from "../../core/activations/submit-own.ts";
import { beginReturn, endReturn } from "../../core/after-sale/give-back.ts";
import { sendToTraveler, sendToTravelerByForm } from "../../core/after-sale/send-to-traveler.ts";
import { settleReturn } from "../../core/after-sale/settle.ts";
import {
  claimTravelerMails,
  giveUpTravelerMails,
  recordTravelerMailed,
} from "../../core/after-sale/traveler-mail-queue.ts";
import { claimTargets, recordSent } from "../../core/alerts/queue.ts";
import { settleAlerts } from "../../core/alerts/settle.ts";
import { ensureCarriers } from "../../core/carriers/seed.ts";
import { setCarrier } from "../../core/carriers/set.ts";
import { announceChanges } from "../../core/catalog/announce.ts";
import { changeProduct } from "../../core/catalog/change.ts";
import { followStock } from "../../core/catalog/follow-stock.ts";
import { importProducts } from "../../core/catalog/import.ts";
import { createCredential } from "../../core/credentials/create.ts";
import { createOwnCredential, deleteOwnCredential, rotateOwnCredential } from "../../core/credentials/own.ts";
import { revokeCredential } from "../../core/credentials/revoke.ts";
import { rotateCredential } from "../../core/credentials/rotate.ts";
import { ensureSigningKey } from "../../core/credentials/signing-keys.ts";
import { updateCredential } from "../../core/credentials/update.ts";
import { expireDueEsims } from "../../core/esims/expire.ts";
import { announceExpiring } from "../../core/esims/expiring.ts";
import { importStock } from "../../core/esims/import-stock.ts";
import { activateEsim, suspendEsim } from "../../core/esims/life.ts";
import { moveStock } from "../../core/esims/move-stock.ts";
import { takeEsimReport } from "../../core/esims/supplier-report.ts";
import { signHeads } from "../../core/evidence/sign.ts";
import { markFeedRead } from "../../core/feed/mark-read.ts";
import { recordCronRun } from "../../core/insight/cron-runs.ts";
import { addRequestCounts } from "../../core/insight/rates.ts";
import { addRefusedRequests } from "../../core/insight/refusals.ts";
import { actAndFollow } from "../../core/orders/act.ts";
import { actOnOrderByForm } from "../../core/orders/by-form.ts";
import { createOrder } from "../../core/orders/create.ts";
import { claimOrders, fulfillLeased, postponeOrder, releaseOrders } from "../../core/orders/due.ts";
import { pauseOrders, resumeOrders } from "../../core/orders/pause.ts";
import { purgeSandboxStep } from "../../core/orders/purge-sandbox.ts";
import { auditCodesRead } from "../../core/orders/read-audit.ts";
import { createPartner } from "../../core/partners/create.ts";
import { foreseeEnd, foreseePriceRule, foreseeRemoval } from "../../core/partners/prices.ts";
import { resumePartner, suspendPartner } from "../../core/partners/suspend.ts";
import { updatePartner } from "../../core/partners/update.ts";
import { editPassport } from "../../core/passports/edit.ts";
import { announceExpiringPassports } from "../../core/passports/expiring.ts";
import { importPassports } from "../../core/passports/import.ts";
import { auditPoolRead } from "../../core/passports/list.ts";
import { revealPassport } from "../../core/passports/reveal.ts";
import { recordVerdict } from "../../core/passports/verdict.ts";
import { withdrawPassport } from "../../core/passports/withdraw.ts";
import { releaseCron, takeCron } from "../../core/platform/cron-lease.ts";
import { writeHeartbeat } from "../../core/platform/heartbeat.ts";
import { releaseLeases } from "../../core/platform/lease.ts";
import { endOutage, recordFailure } from "../../core/platform/outages.ts";
import { recordBeat, recordStop } from "../../core/platform/serving.ts";
import { adoptSettings } from "../../core/platform/settings.ts";
import { deletePriceList } from "../../core/prices/delete-list.ts";
import { endPriceRule } from "../../core/prices/end-rule.ts";
import { createPriceList } from "../../core/prices/lists.ts";
import { setRate } from "../../core/prices/rates.ts";
import { importPriceRules, removePriceRule, setPriceRule } from "../../core/prices/set-rule.ts";
import { advanceClock, resetClock } from "../../core/sandbox/clock.ts";
import { reportSandboxEsim } from "../../core/sandbox/report.ts";
import { settleStep } from "../../core/sandbox/settle.ts";
import type { Command } from "../../core/store/store.ts";
import { applySupplyOutcome } from "../../core/supplier-requests/apply-outcome.ts";
import { applyStep, noteStep } from "../../core/supplier-requests/apply-step.ts";
import { takeSupplierCallback } from "../../core/supplier-requests/callback.ts";
import { claimItems, postponeItem, releaseItems, reviewOverdueItems } from "../../core/supplier-requests/due.ts";
import { playSupplier } from "../../core/supplier-requests/scenario.ts";
import { pauseSupplier, resumeSupplier } from "../../core/suppliers/pause.ts";
import { setSupplier } from "../../core/suppliers/set.ts";
import { keepBalance } from "../../core/supply/balance.ts";
import { blockTurns, takeTurn } from "../../core/supply/limit.ts";
import { applyLooks, claimLooks, noticeEsims, postponeLooks } from "../../core/supply/looks.ts";
import { addSource, removeSource } from "../../core/supply/sources.ts";
import { applySync, endSync } from "../../core/supply/sync.ts";
import { dropToken, keepToken } from "../../core/supply/token.ts";
import { decideTopupByForm } from "../../core/topups/by-form.ts";
import { createTopup } from "../../core/topups/create.ts";
import { claimTopups, postponeTopup, releaseTopups } from "../../core/topups/due.ts";
import { offerTopups } from "../../core/topups/offers.ts";
import { decideTopup } from "../../core/topups/operator.ts";
import { playTopup } from "../../core/topups/play.ts";
import { applyTopupStep } from "../../core/topups/step.ts";
import { setBankDetails } from "../../core/wallet/bank-details.ts";
import { creditFundingByForm, moveByForm, requestFundingByForm } from "../../core/wallet/by-form.ts";
import { cancelFunding, requestFunding } from "../../core/wallet/funding.ts";
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
  acceptInvitation,
  actAndFollow,
  actOnOrderByForm,
  activateEsim,
  addPasskey,
  addRefusedRequests,
  addRequestCounts,
  addSource,
  adoptSettings,
  advanceClock,
  announceChanges,
  announceExpiring,
  announceExpiringPassports,
  applyLooks,
  applyOutcome,
  applyOutcomes,
  applyStep,
  applySupplyOutcome,
  applySync,
  applyTopupStep,
  auditCodesRead,
  auditPoolRead,
  beginReturn,
  beginTotp,
  blockTurns,
  bulkCancel,
  bulkReschedule,
  cancelActivation,
  cancelFunding,
  changeMany,
  changeManyByForm,
  changePassword,
  changeProduct,
  claimExchanges,
  claimInvitations,
  claimItems,
  claimLooks,
  claimOrders,
  claimTargets,
  claimTopups,
  claimTravelerMails,
  confirmTotp,
  createCredential,
  createOrder,
  createOwnCredential,
  createPartner,
  createPriceList,
  createTopup,
  createWebhook,
  creditFundingByForm,
  decideTopup,
  decideTopupByForm,
  deleteOwnCredential,
  deletePriceList,
  deleteWebhook,
  disableUser,
  dropToken,
  editIdentity,
  editPassport,
  enableUser,
  endOutage,
  endPriceRule,
  endReturn,
  endSession,
  endSync,
  ensureCarriers,
  ensureSigningKey,
  enterInvited,
  expireDueEsims,
  failSignIn,
  followStock,
  foreseeEnd,
  foreseePriceRule,
  foreseeRemoval,
  forgetTokens,
  fulfillLeased,
  giveUpTravelerMails,
  importPassports,
  importPriceRules,
  importProducts,
  importStock,
  inviteUser,
  keepBalance,
  keepChallenge,
  keepProof,
  keepToken,
  leaveOverdueToStaff,
  markFeedRead,
  moveByForm,
  moveByHand,
  moveStock,
  noteStep,
  noticeEsims,
  offerTopups,
  pauseOrders,
  pauseSupplier,
  pickUpDue,
  playSupplier,
  playTopup,
  postponeItem,
  postponeLooks,
  postponeOrder,
  postponeTopup,
  proveByCode,
  proveByPasskey,
  purgeSandboxStep,
  purgeStep,
  recordAndClaim,
  recordBeat,
  recordCronRun,
  recordFailure,
  recordMailed,
  recordSent,
  recordStop,
  recordTravelerMailed,
  recordVerdict,
  redeliver,
  releaseCron,
  releaseDeliveries,
  releaseExchanges,
  releaseItems,
  releaseLeases,
  releaseOrders,
  releaseScheduled,
  releaseTopups,
  removeFactor,
  removeFromPartner,
  removePriceRule,
  removeSource,
  renameUser,
  renewRecoveryCodes,
  replayStep,
  reportSandboxEsim,
  requestFunding,
  requestFundingByForm,
  requireFactor,
  rescheduleActivation,
  resetClock,
  resetMember,
  resetUser,
  resumeOrders,
  resumePartner,
  resumeSupplier,
  revealActivation,
  revealPassport,
  reviewOverdueItems,
  revokeCredential,
  rotateCredential,
  rotateOwnCredential,
  rotateWebhookSecret,
  sendSample,
  sendToTraveler,
  sendToTravelerByForm,
  setBankDetails,
  setCarrier,
  setPriceRule,
  setRate,
  setSupplier,
  settleAlerts,
  settleReturn,
  settleStep,
  signHeads,
  signIn,
  submitActivation,
  submitLine,
  submitLinesInVain,
  submitOwn,
  suspendEsim,
  suspendPartner,
  switchEnvironment,
  takeCallback,
  takeCron,
  takeEsimReport,
  takeSupplierCallback,
  takeTurn,
  touchSession,
  updateCredential,
  updatePartner,
  updateUser,
  updateWebhook,
  viewAs,
  withdrawPassport,
  writeHeartbeat,
} satisfies Record<string, Command<never, unknown>>;

export type CommandName = keyof typeof commands;

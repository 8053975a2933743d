import type { DeliveredEsim } from "../esims/delivered.ts";
import type { EsimRow } from "../esims/esim.ts";
import { makeExpired } from "../esims/expire.ts";
import { beginValidity, makeActive, makeSuspended } from "../esims/life.ts";
import { takePlace, takeUsage } from "../esims/usage.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import type { EsimReportOf } from "./provider.ts";

/** What a supplier shows of one of its eSIMs. */
interface Look {
  supplier: string;
  report: EsimReportOf;
}

/**
 * Takes what a supplier shows of an eSIM: installation, activation, use, place, suspension and end, with the events
 * that follow. What is older than what is known changes nothing, except that an activation is never lost, since
 * validity counts from it.
 */
export async function applyLook(tx: Tx, known: DeliveredEsim, look: Look): Promise<void> {
  const { id, install_state, status } = known.esim;
  const report = { ...look.report, at: Math.min(look.report.at, tx.now) };
  if (report.install !== null && report.install !== install_state) {
    await updateRow(tx, "esims", { id }, { install_state: report.install });
  }
  const steps = status === "expired" ? [measure] : [begin, measure, resume, prolong, suspend, end];
  for (const step of steps) {
    const esim = await findByKey(tx, "esims", { id });
    if (esim !== null) await step(tx, { ...known, esim }, { ...look, report });
  }
}

function moveOf({ supplier, report: { at } }: Look) {
  return { actor: `supplier:${supplier}`, at } as const;
}

/** When it began to be used; null: it did not, as far as that shows. */
function begunAt({ status, activatedAt, usedMb, at }: EsimReportOf): number | null {
  if (activatedAt !== null) return Math.min(activatedAt, at);
  if (status === "active" || status === "used_up") return at;
  return status === "suspended" && (usedMb ?? 0) > 0 ? at : null;
}

async function begin(tx: Tx, known: DeliveredEsim, look: Look): Promise<void> {
  const { report } = look;
  const at = begunAt(report);
  if (known.esim.activated_at !== null || at === null) return;
  const until = report.expiresAt !== null && report.expiresAt > at ? report.expiresAt : null;
  await beginValidity(tx, known, { ...moveOf(look), at, until });
}

async function measure(tx: Tx, known: DeliveredEsim, { report }: Look): Promise<void> {
  const { iccid, usedMb, totalMb, country, network, at } = report;
  const place = { country, network, at };
  if (usedMb !== null) {
    const total_mb = totalMb === null ? null : Math.round(totalMb);
    await takeUsage(tx, known, { iccid, used_mb: Math.round(usedMb), total_mb, ...place });
  } else if (country !== null || network !== null) await takePlace(tx, known.esim, place);
}

/** Whether the supplier's word about the status is newer than the last one that was taken. */
function isNewer({ status_at }: EsimRow, { report }: Look): boolean {
  return status_at === null || report.at > status_at;
}

async function resume(tx: Tx, known: DeliveredEsim, look: Look): Promise<void> {
  const { status } = look.report;
  if (known.esim.status !== "suspended" || (status !== "active" && status !== "used_up")) return;
  if (isNewer(known.esim, look)) await makeActive(tx, known, moveOf(look));
}

/** Follows the end of validity that the supplier shows, which top-ups move. Notices of a later end begin again. */
async function prolong(tx: Tx, { esim }: DeliveredEsim, { report }: Look): Promise<void> {
  const { expiresAt, status } = report;
  if (esim.expires_at === null || expiresAt === null || (status !== "active" && status !== "used_up")) return;
  if (expiresAt === esim.expires_at) return;
  const renewed = expiresAt > esim.expires_at ? { expiry_notice: null } : {};
  await updateRow(tx, "esims", { id: esim.id }, { expires_at: expiresAt, ...renewed });
}

async function suspend(tx: Tx, known: DeliveredEsim, look: Look): Promise<void> {
  if (look.report.status !== "suspended" || known.esim.status === "suspended") return;
  if (isNewer(known.esim, look)) await makeSuspended(tx, known, moveOf(look));
}

async function end(tx: Tx, known: DeliveredEsim, look: Look): Promise<void> {
  const { status, expiresAt, at } = look.report;
  if (status !== "expired" || known.esim.status === "expired") return;
  await makeExpired(tx, known, { ...moveOf(look), at: Math.min(expiresAt ?? at, at) });
}

import { and, eq, lte, sql } from "drizzle-orm";
import { visibleEsim } from "../esims/esim.ts";
import { esimLinks } from "../esims/links.ts";
import type { TravelerMailId } from "../kernel/brand.ts";
import { partnerById } from "../partners/partner.ts";
import { hasDueIn, type Lease, leaseOn, leasesOf } from "../platform/lease.ts";
import { mailRest } from "../platform/mail-rest.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { customerAddress, refusalOf } from "./sendable-esim.ts";
import { openAddress } from "./traveler-mails.ts";

/** A mail to a traveler that a node has for a while. */
export type ClaimedTravelerMail = Lease<"travelerMails">;

/** What is mailed to a traveler. */
export interface InstallMail {
  to: string;
  product: string;
  partnerName: string;
  installUrl: string;
}

/** Longer than an attempt to send, and short enough that a node that died costs a minute. */
const LEASE_MS = 60_000;
/** How many are claimed at a time: more would wait for a connection to the mail server, and outlast their leases. */
export const TRAVELER_MAILS_AT_ONCE = 5;
/** How long a mail is tried (ms). */
const TRIED_MS = 24 * 60 * 60 * 1000;

const claim = leasesOf("travelerMails", LEASE_MS).claimer<object>(() => sql`true`);

/** Whether a mail to a traveler has been due for so long. */
export const hasDueTravelerMails = hasDueIn("travelerMails");

/** Claims mails that are due. */
export async function claimTravelerMails(tx: Tx, _input: null): Promise<ClaimedTravelerMail[]> {
  return (await claim(tx, { limit: TRAVELER_MAILS_AT_ONCE })).map((row) => leaseOn<"travelerMails">(row));
}

/**
 * What is mailed, or why nothing is any more. Null: it has ended, or another node has it. Throws `UnreadableError`.
 */
export async function readTravelerMail(
  q: Read,
  { lease: { id, no }, publicUrl }: { lease: ClaimedTravelerMail; publicUrl: string },
): Promise<InstallMail | { refusal: string } | null> {
  const row = await findByKey(q, "travelerMails", { id });
  if (row === null || row.lease_no !== no || row.leased_until === null) return null;
  const found = await visibleEsim(q, row.esim_id);
  const refusal = found === null ? "the eSIM is not delivered any more" : await refusalOf(q, found.esim);
  if (found === null || refusal !== null) return { refusal: refusal ?? "" };
  const to =
    row.address_sealed === null ? await customerAddress(q, found.esim) : openAddress(q, id, row.address_sealed);
  if (to === null) return { refusal: "the order names no customer any more" };
  const { name: partnerName } = await partnerById(q, row.partner_id);
  const installUrl = esimLinks(q.vault, publicUrl, row.esim_id).install_url;
  return { to, product: found.line.product_name, partnerName, installUrl };
}

/** Why a mail did not get away, and whether it is tried no more. */
interface Fault {
  reason: string;
  final: boolean;
}

/** What is kept of a mail that has ended: no address. */
const ENDED = { address_sealed: null, due_at: null, leased_until: null };

/**
 * Records what came of an attempt; null: it was sent. Where it was not, it is tried again, for a day. Nothing, where
 * the lease was lost or the mail has ended: then another node sends again under the same ID.
 */
export async function recordTravelerMailed(
  tx: Tx,
  { lease, fault }: { lease: ClaimedTravelerMail; fault: Fault | null },
): Promise<void> {
  const { id, no } = lease;
  const row = await findByKey(tx, "travelerMails", { id });
  if (row === null || row.lease_no !== no || row.leased_until === null) return;
  if (fault === null) {
    return updateRow(tx, "travelerMails", { id }, { ...ENDED, status: "sent", reason: null, ended_at: tx.now });
  }
  const failed_attempts = row.failed_attempts + 1;
  const { reason } = fault;
  const until = row.created_at + TRIED_MS;
  if (fault.final || tx.now >= until) {
    return updateRow(tx, "travelerMails", { id }, { ...notSent(tx, reason), failed_attempts });
  }
  const due_at = Math.min(tx.now + mailRest(failed_attempts), until);
  await updateRow(tx, "travelerMails", { id }, { due_at, leased_until: null, failed_attempts, reason });
}

function notSent({ now }: Tx, reason: string) {
  return { ...ENDED, status: "not_sent", reason, ended_at: now } as const;
}

/** Ends a mail whose address is erased. */
export async function dropTravelerMail(tx: Tx, id: TravelerMailId): Promise<void> {
  await updateRow(tx, "travelerMails", { id }, notSent(tx, "the address was erased"));
}

const giveUp = statement((db, t, slot: Slots<{ before: number; now: number; reason: string }>) =>
  db
    .update(t.travelerMails)
    .set({ ...ENDED, status: "not_sent", reason: slot.reason, ended_at: slot.now })
    .where(and(eq(t.travelerMails.status, "waiting"), lte(t.travelerMails.due_at, slot.before))),
);

/** Ends the mails that have been due for `forMs` and that no node sends. */
export async function giveUpTravelerMails(tx: Tx, { forMs }: { forMs: number }): Promise<void> {
  await giveUp(tx, { before: tx.now - forMs, now: tx.now, reason: "no mail server is set" });
}

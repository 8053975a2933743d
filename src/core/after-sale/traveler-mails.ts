import { and, desc, eq } from "drizzle-orm";
import type { Actor } from "../audit/record.ts";
import type { EsimId, PartnerId, TravelerMailId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";
import type { TravelerMailStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

const addressCell = (id: TravelerMailId) => ({ column: "traveler_mails.address_sealed", row: id }) as const;

/** Seals an address for its row while its mail waits; only inside a command. */
export function sealAddress(tx: Tx, id: TravelerMailId, address: string): string {
  return tx.vault.seal(address, addressCell(id));
}

/** What `sealAddress` sealed. Throws `UnreadableError`. */
export function openAddress(q: Read, id: TravelerMailId, sealed: string): string {
  return q.vault.open(sealed, addressCell(id));
}

/** The same, but null where it cannot be read, which is reported. */
export function openAddressIfReadable(q: Read, id: TravelerMailId, sealed: string): string | null {
  return q.vault.openIfReadable(sealed, addressCell(id));
}

/** A mail by which an eSIM is sent to its traveler, as the people who may send it see it. */
export interface TravelerMail {
  id: TravelerMailId;
  status: TravelerMailStatus;
  /** "o•••@…" */
  to: string;
  /** Whether that is the customer of the order. */
  to_customer: boolean;
  failed_attempts: number;
  /** Why the last attempt failed, or why it was not sent; null: nothing went wrong. */
  reason: string | null;
  created_by: Actor;
  created_at: string;
  /** When it was sent, or given up; null: it waits. */
  ended_at: string | null;
}

/** A stored mail as `TravelerMail` has it. */
export function toTravelerMail(row: Row<"travelerMails">): TravelerMail {
  const { id, status, masked: to, to_customer, failed_attempts, reason, created_by } = row;
  const times = { created_at: isoTime(row.created_at), ended_at: isoTimeOrNull(row.ended_at) };
  return { id, status, to, to_customer, failed_attempts, reason, created_by, ...times };
}

const ofEsim = statement((db, t, slot: Slots<{ esim_id: EsimId; partner_id: PartnerId; limit: number }>) =>
  db
    .select()
    .from(t.travelerMails)
    .where(and(eq(t.travelerMails.esim_id, slot.esim_id), eq(t.travelerMails.partner_id, slot.partner_id)))
    .orderBy(desc(t.travelerMails.created_at), desc(t.travelerMails.id))
    .limit(slot.limit),
);

/** Mails of an eSIM that a page or a story has at the most. */
const MOST_MAILS = 20;

/** The mails of an eSIM of this partner, newest first; none of one in stock. */
export async function travelerMailsOf(
  q: Read,
  { esimId, partnerId, limit = MOST_MAILS }: { esimId: EsimId; partnerId: PartnerId | null; limit?: number },
): Promise<TravelerMail[]> {
  if (partnerId === null) return [];
  return (await ofEsim(q, { esim_id: esimId, partner_id: partnerId, limit })).map(toTravelerMail);
}

/** Whom a mail goes to: "o•••@…, the customer of the order". */
export function recipientWords({ to, to_customer }: Pick<TravelerMail, "to" | "to_customer">): string {
  return to_customer ? `${to}, the customer of the order` : to;
}

/** How far a mail is, as a history has it: "sent to the traveler (o•••@…)". */
export function travelerMailMoment({ status, to, reason, created_at, ended_at }: TravelerMail) {
  const what = { sent: "sent", waiting: "waits to be sent", not_sent: "could not be sent" }[status];
  const text = `${what} to the traveler (${to})${reason === null ? "" : `: ${reason}`}`;
  return { at: Date.parse(ended_at ?? created_at), kind: "mail", text };
}

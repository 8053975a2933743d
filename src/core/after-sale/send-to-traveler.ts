import { firstTime } from "../accounts/form-keys.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { TravelerMailId, UserId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import { isMailbox } from "../kernel/mailbox.ts";
import { maskedEmail } from "../kernel/masked.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { insert } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Tx } from "../store/store.ts";
import { type EsimToSend, sendableEsim } from "./sendable-esim.ts";
import { sealAddress, type TravelerMail, toTravelerMail, travelerMailsOf } from "./traveler-mails.ts";

/** How often an eSIM is sent within a day: who gets the mails cannot ask for fewer. */
const MOST_A_DAY = 5;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Whom to send it to: an address, or null, the customer of its order. */
export interface SendToTraveler extends EsimToSend {
  to: string | null;
  actor: Actor;
}

/**
 * Leaves a mail with the install link of an eSIM to the worker that sends mail. Throws `conflict` where the eSIM is not
 * sent, or was sent five times within a day, and `validation` for an address that is none.
 */
export async function sendToTraveler(tx: Tx, { to, actor, ...asked }: SendToTraveler): Promise<TravelerMail> {
  const { esim, refusal, customer } = await sendableEsim(tx, asked);
  const { id: esim_id, iccid, partner_id } = esim;
  if (refusal !== null) throw new Problem("conflict", refusal);
  if (partner_id === null) throw new Error("a sold eSIM has an owner");
  const address = to?.trim() ?? customer;
  if (address === null) throw invalid({ to: ["is needed: the order names no customer whose address is known"] });
  if (!isMailbox(address)) throw invalid({ address: ["must be an e-mail address"] });
  const last = await travelerMailsOf(tx, { esimId: esim_id, partnerId: partner_id, limit: MOST_A_DAY });
  const free = Date.parse(last[MOST_A_DAY - 1]?.created_at ?? "1970-01-01T00:00:00Z") + DAY_MS;
  if (free > tx.now) {
    const words = `eSIM ${iccid} was sent ${MOST_A_DAY} times within a day: it may be again at ${isoTime(free)}.`;
    throw new Problem("conflict", words);
  }
  const id = newId<TravelerMailId>(tx);
  const row: Row<"travelerMails"> = {
    ...{ id, esim_id, partner_id, to_customer: to === null, masked: maskedEmail(address) },
    address_sealed: to === null ? null : sealAddress(tx, id, address),
    ...{ status: "waiting", due_at: tx.now, leased_until: null, lease_no: 0, failed_attempts: 0, reason: null },
    ...{ created_by: actor, created_at: tx.now, ended_at: null },
  };
  await insert(tx, "travelerMails", [row]);
  const note = to === null ? "to the customer of the order" : "to another address";
  const target = { targetKind: "esim", targetId: esim_id, partnerId: partner_id };
  await recordAudit(tx, { actor, action: "esims.send-to-traveler", ...target, note });
  return toTravelerMail(row);
}

/** The same, once by the key of its form; null: it did so before. Throws what that one throws. */
export async function sendToTravelerByForm(
  tx: Tx,
  { key, userId, ...input }: SendToTraveler & { key: string; userId: UserId },
): Promise<TravelerMail | null> {
  return (await firstTime(tx, { key, userId })) ? sendToTraveler(tx, input) : null;
}

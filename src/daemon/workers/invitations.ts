import type { Logger } from "pino";
import {
  type ClaimedInvitation,
  claimInvitations,
  forgetTokens,
  hasDueInvitations,
  INVITATIONS_AT_ONCE,
  readInvitationMail,
  recordMailed,
} from "../../core/accounts/invitation-mail.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import { maySend } from "../../core/platform/lease.ts";
import type { Store } from "../../core/store/store.ts";
import { composeInvitation } from "../gateways/invitation-text.ts";
import type { Mailer } from "../gateways/mailer.ts";
import { drained, type Step } from "./loop.ts";

interface Dependencies {
  store: Store;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
  /** Null: this node has no mail server. */
  mailer: Mailer | null;
  publicUrl: string;
  /** Whether no other node can serve the database. */
  alone: boolean;
}

/** How long a node without a mail server leaves a mail to the other nodes, one of which may have one (ms). */
const OTHERS_MS = 60_000;

/** A step that mails the invitations that are due; without a mail server it removes the tokens that wait for one. */
export function createInvitationMails({ mailer, ...deps }: Dependencies): Step {
  const { store, alone } = deps;
  if (mailer === null) {
    const forgotten = { forMs: alone ? 0 : OTHERS_MS };
    return async () => {
      if (await store.read(hasDueInvitations, forgotten)) await store.write(forgetTokens, forgotten);
    };
  }
  return async (signal) => {
    if (!(await store.read(hasDueInvitations, { forMs: 0 }))) return;
    await drained(signal, () => mailSome({ ...deps, mailer }), INVITATIONS_AT_ONCE);
  };
}

type Sending = Omit<Dependencies, "mailer"> & { mailer: Mailer };

async function mailSome(deps: Sending): Promise<number> {
  const claimed = await deps.store.write(claimInvitations, null);
  await Promise.all(claimed.map((lease) => mailOne(deps, lease)));
  return claimed.length;
}

/** Never logs what is mailed, nor to whom: the link lets in who opens it first. */
async function mailOne(deps: Sending, lease: ClaimedInvitation): Promise<void> {
  const { store, clock, log, mailer, publicUrl } = deps;
  const { id } = lease;
  let reason: string | null;
  try {
    const mail = await store.read(readInvitationMail, lease);
    if (mail === null || !maySend(lease, clock.now())) return;
    const outcome = await mailer.send({ ...composeInvitation(mail, publicUrl), reference: id });
    reason = outcome.kind === "accepted" ? null : "reason" in outcome ? outcome.reason : outcome.kind;
  } catch (error) {
    log.error({ err: error, invitation_id: id }, "an invitation could not be mailed");
    await store.write(recordMailed, { lease, sent: false });
    return;
  }
  if (reason !== null) log.warn({ invitation_id: id, reason }, "an invitation was not mailed, and is tried again");
  await store.write(recordMailed, { lease, sent: reason === null });
}

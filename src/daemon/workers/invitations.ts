import type { Logger } from "pino";
import {
  type ClaimedInvitation,
  claimInvitations,
  forgetTokens,
  hasDueInvitations,
  INVITATIONS_AT_ONCE,
  type InvitationMail,
  readInvitationMail,
  recordMailed,
} from "../../core/accounts/invitation-mail.ts";
import { type Clock, isoTime } from "../../core/kernel/clock.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { maySend } from "../../core/platform/lease.ts";
import type { Store } from "../../core/store/store.ts";
import type { Mail, Mailer } from "../gateways/mailer.ts";
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

/** What the link is for, by who is invited. */
const tasks: Record<InvitationMail["invites"], string> = {
  new: "Open this link to enter your name and a password of your own:",
  reset: "Your password and second factors were removed. Open this link to choose a new password:",
  known: "Open this link to accept with the password that you have here:",
};

/** The mail of an invitation: plain text with one link, which nothing counts. It does not say who invited. */
function composeInvitation(mail: InvitationMail, publicUrl: string): Omit<Mail, "reference"> {
  const { to, token, partnerName, invites, expiresAt } = mail;
  const face = partnerName === null ? "console" : "portal";
  const pages = partnerName === null ? "the console" : `the portal of ${withoutHidden(partnerName)}`;
  const until = isoTime(expiresAt).slice(0, 16).replace("T", " ");
  const lines = [
    `You are invited to ${pages} at ${publicUrl}.`,
    `${tasks[invites]}\n\n${publicUrl}/${face}/invitations/${token}`,
    `The link works once, until ${until} UTC. It is for you alone: do not pass it on.`,
    "If you do not expect this invitation, leave the link unopened and delete this mail.",
  ];
  const subject = `You are invited to ${pages} at ${new URL(publicUrl).host}`;
  return { to, subject, text: `${lines.join("\n\n")}\n` };
}

import {
  claimInvitations,
  forgetTokens,
  hasDueInvitations,
  INVITATIONS_AT_ONCE,
  type InvitationMail,
  readInvitationMail,
  recordMailed,
} from "../../core/accounts/invitation-mail.ts";
import { isoTime } from "../../core/kernel/clock.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import type { Mail } from "../gateways/mailer.ts";
import type { Step } from "./loop.ts";
import { createMailing, type MailingContext } from "./mailing.ts";

/** A step that mails the invitations that are due; without a mail server it removes the tokens that wait for one. */
export function createInvitationMails(context: MailingContext): Step {
  const { store, publicUrl } = context;
  return createMailing(context, {
    ...{ what: "an invitation", idName: "invitation_id", atOnce: INVITATIONS_AT_ONCE },
    hasDue: (given) => store.read(hasDueInvitations, given),
    claim: () => store.write(claimInvitations, null),
    giveUp: (given) => store.write(forgetTokens, given),
    async compose(lease) {
      const mail = await store.read(readInvitationMail, lease);
      return mail && composeInvitation(mail, publicUrl);
    },
    // Where it was refused for good too it is tried until it expires: the operator can correct what the server minds.
    record: (lease, fault) => store.write(recordMailed, { lease, sent: fault === null }),
  });
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

import {
  claimTravelerMails,
  giveUpTravelerMails,
  hasDueTravelerMails,
  type InstallMail,
  readTravelerMail,
  recordTravelerMailed,
  TRAVELER_MAILS_AT_ONCE,
} from "../../core/after-sale/traveler-mail-queue.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import type { Mail } from "../gateways/mailer.ts";
import type { Step } from "./loop.ts";
import { createMailing, type MailingContext } from "./mailing.ts";

/** A step that mails the eSIMs that wait to be sent to their travelers; without a mail server it gives them up. */
export function createTravelerMails(context: MailingContext): Step {
  const { store, publicUrl } = context;
  return createMailing(context, {
    ...{ what: "an eSIM for its traveler", idName: "traveler_mail_id", atOnce: TRAVELER_MAILS_AT_ONCE },
    hasDue: (given) => store.read(hasDueTravelerMails, given),
    claim: () => store.write(claimTravelerMails, null),
    giveUp: (given) => store.write(giveUpTravelerMails, given),
    async compose(lease) {
      const mail = await store.read(readTravelerMail, { lease, publicUrl });
      if (mail === null) return null;
      return "refusal" in mail ? { kind: "temporary", reason: mail.refusal, final: true } : composeMail(mail);
    },
    record: (lease, fault) => store.write(recordTravelerMailed, { lease, fault }),
  });
}

/** Plain text with one link and no code: what is behind the link ends with it. */
function composeMail({ to, installUrl, ...names }: InstallMail): Omit<Mail, "reference"> {
  const [product, seller] = [withoutHidden(names.product), withoutHidden(names.partnerName)];
  const lines = [
    `Your eSIM from ${seller}: ${product}`,
    `Open this link on the phone that is to have it, or on another screen, whose QR code the phone scans:`,
    installUrl,
    "Connect to Wi-Fi first. An eSIM can be installed only once: do not delete it from the phone afterwards.",
    "Who has the link can install the eSIM: do not pass it on. If you did not order it, delete this mail.",
  ];
  return { to, subject: `Your eSIM: ${product}`, text: `${lines.join("\n\n")}\n` };
}

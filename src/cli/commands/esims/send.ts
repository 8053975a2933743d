import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { excluding, flag, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { moment, shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { esimAtHand } from "../../place/records-at-hand.ts";
import { esimArgument } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Leaves a mail with the link of its install page to a serve with --smtp-url, which sends it within seconds and " +
    "tries for a day; where there is none it is not sent. find and the eSIM's page say what came of it. An eSIM is " +
    "sent five times a day at the most, and none of the sandbox or that has ended is.",
  fields: { address: "--to" },
  json: "{id, status, to, to_customer, failed_attempts, reason, created_by, created_at, ended_at}; to is masked",
  examples: ["esims send 8944590004463637008 --to mia@example.com", "esims send 8944590004463637008 --to-customer"],
  args: { esim: esimArgument },
  options: {
    to: text("--to <address>", "the traveler's e-mail address"),
    toCustomer: excluding(flag("--to-customer", "the customer whom its order names"), "--to"),
  },
  async run(context, { esim, to, toCustomer }) {
    if (to === undefined && !toCustomer) {
      throw usageError("Nothing says whom it goes to.", "Give --to ADDRESS or --to-customer.");
    }
    const [{ sendToTraveler }, { recipientWords }] = await Promise.all([
      import("../../../core/after-sale/send-to-traveler.ts"),
      import("../../../core/after-sale/traveler-mails.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const { iccid } = await esimAtHand(store, esim);
      const mail = await store.write(sendToTraveler, { iccid, owner: null, to: to ?? null, actor: OPERATOR });
      return recordResult(mail, () => ({
        id: mail.id,
        status: mail.status,
        to: recipientWords(mail),
        asked: moment(mail.created_at),
        reason: shown(mail.reason),
      }));
    });
  },
});

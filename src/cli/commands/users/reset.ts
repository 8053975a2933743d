import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { INVITED_JSON, invitedResult, rolePartner, userAndPartner } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Removes password, second factors and recovery codes, ends all sessions, and prints a new invitation, valid once " +
    "for 72 hours; a serve with --smtp-url mails it too. Asks first.",
  json: INVITED_JSON,
  examples: ["users reset max@acme.example", "users reset max@acme.example --yes --json"],
  args: { email: argument("email", "the user's e-mail address") },
  options: { partner: rolePartner },
  async run(context, asked) {
    const { resetUser } = await import("../../../core/accounts/invite.ts");
    return context.withStore(async ({ store }) => {
      const { user, partnerId } = await userAndPartner(store, asked);
      await context.confirm(`Reset ${user.email}? Password, factors and sessions of this user end at once.`);
      return invitedResult(store, await store.write(resetUser, { userId: user.id, partnerId, actor: OPERATOR }));
    });
  },
});

import { command } from "../../frame/command.ts";
import { argument, flag, required, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { INVITED_JSON, invitedResult } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Adds the user, or gives one of a partner a role at another. Prints a link that is valid once, for 72 hours; a " +
    "serve with --smtp-url mails it too. Without --partner the user is one of the operator's staff.",
  json: INVITED_JSON,
  examples: [
    "users invite ada@example.com --role admin",
    "users invite kim@example.com --role support --reveal",
    "users invite max@acme.example --partner acme --role owner",
  ],
  args: { email: argument("email", "the user's e-mail address") },
  options: {
    role: required(
      text("--role <role>", "admin, support, finance or viewer; with --partner owner, developer, agent or viewer"),
    ),
    partner: text("--partner <slug>", "the partner whose portal the user may use"),
    reveal: flag("--reveal", "staff that may reveal identities, whatever the role"),
  },
  async run(context, { email, role, partner, reveal }) {
    const [{ inviteUser }, { requirePartner }] = await Promise.all([
      import("../../../core/accounts/invite.ts"),
      import("../../../core/partners/partner.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const partnerId = partner === undefined ? null : (await store.read(requirePartner, partner)).id;
      const invited = await store.write(inviteUser, { email, role, partnerId, reveal, actor: OPERATOR });
      return invitedResult(store, invited);
    });
  },
});

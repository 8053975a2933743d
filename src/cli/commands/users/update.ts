import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument, text, toggle } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { rolePartner, USER_JSON, userAndPartner, userResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Changes what the user may do, at once. A partner keeps an owner who can sign in.",
  json: `{${USER_JSON}}`,
  examples: ["users update kim@example.com --role finance", "users update kim@example.com --no-reveal"],
  args: { email: argument("email", "the user's e-mail address") },
  options: {
    role: text("--role <role>", "the new role, of the same side"),
    reveal: toggle("reveal", "staff that may reveal identities, whatever the role"),
    partner: rolePartner,
  },
  async run(context, { role, reveal, ...asked }) {
    if (role === undefined && reveal === undefined) throw usageError("Nothing to change.", "Give --role or --reveal.");
    const { updateUser } = await import("../../../core/accounts/change-user.ts");
    return context.withStore(async ({ store }) => {
      const { user, partnerId } = await userAndPartner(store, asked);
      const change = { userId: user.id, partnerId, role, reveal, actor: OPERATOR };
      return userResult(await store.write(updateUser, change));
    });
  },
});

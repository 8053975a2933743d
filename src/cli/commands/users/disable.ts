import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { rolePartner, USER_JSON, userAndPartner, userResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "The user's sessions and invitations end at once, in all roles. Asks first.",
  json: `{${USER_JSON}}`,
  examples: ["users disable max@acme.example", "users disable max@acme.example --yes"],
  args: { email: argument("email", "the user's e-mail address") },
  options: { partner: rolePartner },
  async run(context, asked) {
    const { disableUser } = await import("../../../core/accounts/change-user.ts");
    return context.withStore(async ({ store }) => {
      const { user, partnerId } = await userAndPartner(store, asked);
      await context.confirm(`Disable ${user.email}? All sessions of this user end at once.`);
      return userResult(await store.write(disableUser, { userId: user.id, partnerId, actor: OPERATOR }));
    });
  },
});

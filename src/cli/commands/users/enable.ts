import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { rolePartner, USER_JSON, userAndPartner, userResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Lets a disabled user sign in again. One who never accepted an invitation needs a new one: users reset.",
  json: `{${USER_JSON}}`,
  examples: ["users enable max@acme.example"],
  args: { email: argument("email", "the user's e-mail address") },
  options: { partner: rolePartner },
  async run(context, asked) {
    const { enableUser } = await import("../../../core/accounts/change-user.ts");
    return context.withStore(async ({ store }) => {
      const { user, partnerId } = await userAndPartner(store, asked);
      return userResult(await store.write(enableUser, { userId: user.id, partnerId, actor: OPERATOR }));
    });
  },
});

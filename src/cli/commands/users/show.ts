import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { rolePartner, USER_JSON, userAndPartner, userResult } from "./view.ts";

export default command({
  target: "operator",
  shows: "record",
  effects: "Reads only.",
  json: `{${USER_JSON}}`,
  examples: ["users show ada@example.com", "users show max@acme.example --partner acme"],
  args: { email: argument("email", "the user's e-mail address") },
  options: { partner: rolePartner },
  async run(context, asked) {
    return context.withStore(async ({ store }) => userResult((await userAndPartner(store, asked)).user));
  },
});

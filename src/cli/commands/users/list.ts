import { operatorList } from "../../frame/list-command.ts";
import { text } from "../../kernel/input.ts";
import { USER_JSON, userColumns } from "./view.ts";

export default operatorList({
  json: `{data: [{${USER_JSON}}], count}: a user with roles at several partners is there once for each`,
  examples: ["users list", "users list --partner acme --json"],
  options: { partner: text("--partner <slug>", "only this partner's people") },
  columns: userColumns,
  empty: "No users yet: esimctl users invite adds one.",
  async read(store, { partner }) {
    const [{ listUsers }, { requirePartner }] = await Promise.all([
      import("../../../core/accounts/list-users.ts"),
      import("../../../core/partners/partner.ts"),
    ]);
    const partnerId = partner === undefined ? undefined : (await store.read(requirePartner, partner)).id;
    return store.read(listUsers, { partnerId });
  },
});

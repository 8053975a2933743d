import { command } from "../../frame/command.ts";
import { listResult } from "../../output/result.ts";
import { partnerOption } from "../../place/partner-options.ts";
import { CREDENTIAL_JSON, credentialColumns } from "./view.ts";

export const list = command({
  name: "list",
  summary: "a partner's credentials, revoked ones too",
  target: "operator",
  effects: "Reads only. Secrets are not stored and never shown.",
  json: `{data: [${CREDENTIAL_JSON}], count}`,
  examples: ["credentials list --partner acme"],
  args: {},
  options: { partner: partnerOption },
  async run(context, { partner }) {
    const { listCredentials } = await import("../../../core/credentials/list.ts");
    const credentials = await context.withStore(({ store }) => store.read(listCredentials, partner));
    return listResult(credentials, credentialColumns, "No credentials yet: esimctl credentials create issues one.");
  },
});

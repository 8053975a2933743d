import type { Credential as OwnCredential } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing, listOptions } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { listResult } from "../../output/result.ts";
import { pickPartner } from "../../place/partner-options.ts";
import { isAtServer } from "./at-server.ts";
import { CREDENTIAL_JSON, credentialColumns } from "./view.ts";

export default command({
  target: "partner",
  shows: "rows",
  effects:
    "Reads only. Secrets are not stored and never shown. On the operator's data all credentials of the partner; at a " +
    "server, page by page, those of the environment that you are signed in to.",
  json: `{data: [${CREDENTIAL_JSON}], count}; at a server the API's body`,
  examples: ["credentials list --partner acme", "credentials list --all"],
  args: {},
  options: { ...listOptions },
  async run(context, { limit, cursor, all }) {
    if (await isAtServer(context)) {
      const asked = { path: apiPath`/credentials`, query: { limit, cursor }, all };
      const look = { columns: credentialColumns, empty: "No credentials." };
      return context.withApi((api) => context.print(dataListing<OwnCredential>(api, asked, look)));
    }
    const { listCredentials } = await import("../../../core/credentials/credential.ts");
    return context.withStore(async ({ store }) => {
      const partner = context.actsFor.partner ?? (await pickPartner(context.globals, store));
      const empty = "No credentials yet: esimctl credentials create issues one.";
      return listResult(await store.read(listCredentials, partner), credentialColumns, empty);
    });
  },
});

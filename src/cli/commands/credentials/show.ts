import type { Credential as OwnCredential } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { listAll } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { argument } from "../../kernel/input.ts";
import { isAtServer } from "./at-server.ts";
import { CREDENTIAL_JSON, credentialResult } from "./view.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only. Its secret is not stored and never shown.",
  json: CREDENTIAL_JSON,
  examples: ["credentials show sk_live_0123"],
  args: { clientId: argument("client-id", "the credential") },
  options: {},
  async run(context, { clientId }) {
    if (await isAtServer(context)) {
      const own = await context.withApi((api) => listAll<OwnCredential>(api, apiPath`/credentials`, {}));
      const found = own.find(({ client_id }) => client_id === clientId);
      if (found !== undefined) return credentialResult(found);
      throw new CliError("not_found", `No such credential: ${clientId}.`, "See esimctl credentials list.");
    }
    const { showCredential } = await import("../../../core/credentials/credential.ts");
    return credentialResult(await context.withStore(({ store }) => store.read(showCredential, clientId)));
  },
});

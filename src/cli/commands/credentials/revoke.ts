import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { whose } from "../../place/whose.ts";
import { isAtServer } from "./at-server.ts";
import { CREDENTIAL_JSON, credentialResult } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "The credential and every token it got stop working at once. This cannot be undone. Asks first. At a server the " +
    "last one that can manage credentials stays.",
  json: `${CREDENTIAL_JSON}; at a server {client_id, revoked}`,
  examples: ["credentials revoke sk_test_0123", "credentials revoke sk_test_0123 --yes"],
  args: { clientId: argument("client-id", "the credential") },
  options: {},
  async run(context, { clientId }) {
    const question = `Revoke ${clientId}? It and its tokens stop working at once. This cannot be undone.`;
    if (await isAtServer(context)) {
      return context.withApi(async (api) => {
        await context.confirm(question, { whose: api.actsAs });
        await api.request("DELETE", apiPath`/credentials/${clientId}`);
        return { json: { client_id: clientId, revoked: true }, text: () => `Revoked ${clientId}.` };
      });
    }
    const { revokeCredential } = await import("../../../core/credentials/revoke.ts");
    const { requireCredential } = await import("../../../core/credentials/credential.ts");
    return context.withStore(async ({ store }) => {
      const credential = await store.read(requireCredential, clientId);
      await context.confirm(question, { whose: await whose(store, credential) });
      return credentialResult(await store.write(revokeCredential, { clientId, actor: OPERATOR }));
    });
  },
});

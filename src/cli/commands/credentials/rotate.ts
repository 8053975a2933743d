import type { CredentialSecret } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { whose } from "../../place/whose.ts";
import { isAtServer, signInAgain } from "./at-server.ts";
import { ISSUED_JSON, issuedResult, ownIssued } from "./view.ts";

export default command({
  target: "partner",
  effects: "The old secret is refused at once; tokens already issued stay valid until they expire. Asks first.",
  json: `${ISSUED_JSON}; at a server the API's body`,
  examples: ["credentials rotate sk_test_0123", "credentials rotate sk_test_0123 --yes --json"],
  args: { clientId: argument("client-id", "the credential") },
  options: {},
  async run(context, { clientId }) {
    const question = `Replace the secret of ${clientId}? The old one is refused at once.`;
    if (await isAtServer(context)) {
      return context.withApi(async (api) => {
        await context.confirm(question, { whose: api.actsAs });
        const { body } = await api.request<CredentialSecret>("POST", apiPath`/credentials/${clientId}/rotate`);
        return { ...ownIssued(body), note: await signInAgain(context, clientId) };
      });
    }
    const { rotateCredential } = await import("../../../core/credentials/rotate.ts");
    const { requireCredential } = await import("../../../core/credentials/credential.ts");
    return context.withStore(async ({ store }) => {
      const credential = await store.read(requireCredential, clientId);
      await context.confirm(question, { whose: await whose(store, credential) });
      return issuedResult(await store.write(rotateCredential, { clientId, actor: OPERATOR }));
    });
  },
});

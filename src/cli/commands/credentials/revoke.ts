import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { shown, statusPaint } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { whose } from "../../place/whose.ts";
import { CREDENTIAL_JSON } from "./view.ts";

export default command({
  target: "operator",
  effects: "The credential and every token it got stop working at once. This cannot be undone. Asks first.",
  json: CREDENTIAL_JSON,
  examples: ["credentials revoke sk_test_0123", "credentials revoke sk_test_0123 --yes"],
  args: { clientId: argument("client-id", "the credential") },
  options: {},
  async run(context, { clientId }) {
    const { revokeCredential } = await import("../../../core/credentials/revoke.ts");
    const { requireCredential } = await import("../../../core/credentials/credential.ts");
    return context.withStore(async ({ store }) => {
      const credential = await store.read(requireCredential, clientId);
      const question = `Revoke ${clientId}? It and its tokens stop working at once. This cannot be undone.`;
      await context.confirm(question, { whose: await whose(store, credential) });
      const revoked = await store.write(revokeCredential, { clientId, actor: OPERATOR });
      return recordResult(revoked, (sheet) => ({
        "client id": revoked.client_id,
        environment: revoked.environment,
        label: shown(revoked.label),
        status: statusPaint(sheet, revoked.status)(revoked.status),
      }));
    });
  },
});

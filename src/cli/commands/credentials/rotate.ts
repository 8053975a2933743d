import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { whose } from "../../place/whose.ts";
import { ISSUED_JSON, issuedResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "The old secret is refused at once; tokens already issued stay valid until they expire. Asks first.",
  json: ISSUED_JSON,
  examples: ["credentials rotate sk_test_0123", "credentials rotate sk_test_0123 --yes --json"],
  args: { clientId: argument("client-id", "the credential") },
  options: {},
  async run(context, { clientId }) {
    const { rotateCredential } = await import("../../../core/credentials/rotate.ts");
    const { requireCredential } = await import("../../../core/credentials/credential.ts");
    return context.withStore(async ({ store }) => {
      const credential = await store.read(requireCredential, clientId);
      const question = `Replace the secret of ${clientId}? The old one is refused at once.`;
      await context.confirm(question, { whose: await whose(store, credential) });
      return issuedResult(await store.write(rotateCredential, { clientId, actor: OPERATOR }));
    });
  },
});

import { command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { flag, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { partnerOption } from "../../place/partner-options.ts";
import { ISSUED_JSON, issuedResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Adds a credential. Its secret is printed this once and cannot be read again.",
  json: ISSUED_JSON,
  examples: [
    "credentials create --partner acme",
    'credentials create --partner acme --live --scope "read:products write:orders" --label "web shop"',
  ],
  args: {},
  options: {
    partner: partnerOption,
    live: flag("--live", "for production (sk_live_…) instead of the sandbox (sk_test_…)"),
    scope: text("--scope <scopes>", "scopes it may ask for, separated by spaces; left out: all"),
    label: text("--label <label>", "a name that identifies it"),
  },
  async run(context, { partner, live, scope, label }) {
    const [{ createCredential }, { requirePartner }] = await Promise.all([
      import("../../../core/credentials/create.ts"),
      import("../../../core/partners/partner.ts"),
    ]);
    const scopes = scope === undefined ? {} : { scopes: scope.split(/[\s,]+/).filter((word) => word !== "") };
    const input = { partner, live, ...scopes, label: label ?? null, actor: OPERATOR };
    return context.withStore(async ({ store }) => {
      const { production, slug } = await store.read(requirePartner, partner);
      if (live && !production) {
        const hint = `Give it access: esimctl partners update ${slug} --production; or leave --live out.`;
        throw new CliError("no_production_access", `${slug} has no production access.`, hint);
      }
      return issuedResult(await store.write(createCredential, input));
    });
  },
});

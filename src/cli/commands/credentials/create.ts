import type { CredentialSecret } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { excluding, flag, text } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";
import { pickPartner } from "../../place/partner-options.ts";
import { isAtServer } from "./at-server.ts";
import { ISSUED_JSON, issuedResult, ownIssued } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "Adds a credential. Its secret is printed this once and cannot be read again. At a server it has the guard rails " +
    "of the credential that you are signed in with.",
  json: `${ISSUED_JSON}; at a server the API's body`,
  examples: [
    "credentials create --partner acme",
    'credentials create --partner acme --production --scope "read:products write:orders" --label "web shop"',
    'credentials create --production --label "web shop"',
  ],
  args: {},
  options: {
    production: excluding(
      flag("--production", "for production (sk_live_…) instead of the sandbox (sk_test_…)"),
      "--sandbox",
    ),
    live: excluding(flag("--live", "the same as --production"), "--sandbox"),
    scope: text("--scope <scopes>", "scopes it may ask for, separated by spaces; left out: all"),
    label: text("--label <label>", "a name that identifies it"),
  },
  async run(context, { production, live: alias, scope, label }) {
    const live = production || alias;
    const scopes = scope === undefined ? {} : { scopes: scope.split(/[\s,]+/).filter((word) => word !== "") };
    const asked = { live, ...scopes, label: label ?? null };
    return (await isAtServer(context)) ? createThere(context, asked) : createHere(context, asked);
  },
});

interface CredentialOptions {
  live: boolean;
  scopes?: string[];
  label: string | null;
}

/** As the operator, for the partner of --partner. */
async function createHere(context: Context, asked: CredentialOptions): Promise<Result> {
  const [{ createCredential }, { requirePartner }] = await Promise.all([
    import("../../../core/credentials/create.ts"),
    import("../../../core/partners/partner.ts"),
  ]);
  return context.withStore(async ({ store }) => {
    const partner = context.actsFor.partner ?? (await pickPartner(context.globals, store));
    const { production, slug } = await store.read(requirePartner, partner);
    if (asked.live && !production) {
      const hint = `Give it access: esimctl partners update ${slug} --production; or leave --production out.`;
      throw new CliError("no_production_access", `${slug} has no production access.`, hint);
    }
    return issuedResult(await store.write(createCredential, { ...asked, partner, actor: OPERATOR }));
  });
}

/** As the partner that is signed in. */
async function createThere(context: Context, { live, label, scopes }: CredentialOptions): Promise<Result> {
  const named = label === null ? {} : { description: label };
  const body = { environment: live ? "production" : "sandbox", ...named, ...(scopes === undefined ? {} : { scopes }) };
  const answer = await context.withApi((api) => api.request<CredentialSecret>("POST", apiPath`/credentials`, { body }));
  return ownIssued(answer.body);
}

import { type Context, command } from "../frame/command.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { optionalArgument } from "../kernel/input.ts";
import { type Server, serverUrl } from "../place/place.ts";
import type { Profile } from "../place/profiles.ts";
import { identityJson, identityResult, WHOAMI_JSON } from "./identity.ts";

export default command({
  target: "process",
  effects:
    "Checks the credential at the server and keeps it in your config folder (0600), as the profile that --profile " +
    "names, else default. What is not given is asked for. From then on commands act there by default.",
  json: WHOAMI_JSON,
  examples: [
    "login https://esim.example.com",
    "login https://esim.example.com --client-id sk_live_… --client-secret - < secret.txt",
    "login --profile sandbox --server https://esim.example.com --client-id sk_test_…",
  ],
  exits: [exitCodes.notAuthorized],
  args: { address: optionalArgument("address", "the server's public address (or --server, or ESIMCTL_SERVER)") },
  options: {},
  async run(context, { address }) {
    const [{ keepProfile, keepToken }, { connect, credentialOf }] = await Promise.all([
      import("../place/profiles.ts"),
      import("../client/remote.ts"),
    ]);
    const server = await asked(context, address);
    const credential = await credentialOf(context, server);
    warnOfPlainHttp(context, credential.url);
    const { tokens } = await connect(context, { server, credential, keeper: null });
    const token = await tokens.current();
    const profile: Profile = {
      name: server.profile,
      server: credential.url,
      client_id: credential.clientId,
      client_secret: credential.clientSecret,
      logged_in_at: Date.now(),
    };
    keepProfile(profile);
    keepToken(profile.name, token);
    const json = identityJson({ ...server, clientId: profile.client_id }, token);
    return identityResult(json, `Signed in. Commands now act there; esimctl logout forgets it.`);
  },
});

/** The server and what is known of its credential; the address is asked for when it is not given. */
async function asked({ globals }: Context, address: string | undefined): Promise<Server & { profile: string }> {
  const { DEFAULT_PROFILE, profileName, readProfile } = await import("../place/profiles.ts");
  const { text } = await import("../output/prompts.ts");
  const { env } = process;
  const profile = profileName((globals.profile ?? env.ESIMCTL_PROFILE) || DEFAULT_PROFILE);
  const named = address ?? globals.server ?? (env.ESIMCTL_SERVER || undefined);
  // A second login is most often at the same server.
  const url = serverUrl(
    named ??
      (await text("Server:", "The server's address", globals, {
        suggested: readProfile(profile)?.server,
        check: serverUrl,
        hint: "Type esimctl login https://…, or add --server URL.",
      })),
  );
  const clientId = globals.clientId ?? (env.ESIMCTL_CLIENT_ID || undefined);
  const clientSecret = globals.clientSecret ?? (env.ESIMCTL_CLIENT_SECRET || undefined);
  return { kind: "server", url, clientId, clientSecret, profile };
}

function warnOfPlainHttp(context: Context, address: string): void {
  const { protocol, hostname } = new URL(address);
  const near = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol === "http:" && !near) context.warn(`${address} is not https: the secret can be read on its way.`);
}

import { resolve } from "node:path";
import { apiPath } from "../client/api.ts";
import { type Context, command } from "../frame/command.ts";
import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { type Place, placeWords, type Server } from "../place/place.ts";
import { type Identity, identityJson, identityResult, WHOAMI_JSON } from "./identity.ts";

export default command({
  target: "process",
  effects: "Reads only. At a server it asks there whether the credential is still valid.",
  json: WHOAMI_JSON,
  examples: ["whoami", "whoami --profile sandbox --json"],
  exits: [exitCodes.notAuthorised],
  args: {},
  options: {},
  async run(context) {
    const where = await context.where();
    return identityResult(where.kind === "server" ? await atServer(context, where) : await atHand(where));
  },
});

async function atServer(context: Context, server: Server): Promise<Identity> {
  const { connect, credentialOf, keeperOf } = await import("../client/remote.ts");
  const credential = await credentialOf(context, server);
  const { api, tokens } = await connect(context, { server, credential, keeper: await keeperOf(server) });
  // A kept token says nothing of a credential that was revoked since.
  await api.request("GET", apiPath`/products`, { query: { limit: 1 } }).catch((error: unknown) => {
    if (!(error instanceof CliError && error.code === "insufficient_scope")) throw error;
  });
  return identityJson({ ...server, clientId: credential.clientId }, await tokens.current());
}

async function atHand(place: Place): Promise<Identity> {
  const { requireInitialised } = await import("../place/local-store.ts");
  if (place.kind === "directory") requireInitialised(place);
  return {
    place: place.kind,
    server: null,
    data: place.kind === "directory" ? resolve(place.path) : null,
    database: place.kind === "database" ? placeWords(place) : null,
    profile: null,
    client_id: null,
    partner_id: null,
    environment: null,
    scopes: null,
    token_expires_at: null,
  };
}

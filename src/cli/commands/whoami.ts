import { resolve } from "node:path";
import { apiPath } from "../client/api.ts";
import { type Context, command } from "../frame/command.ts";
import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { flag } from "../kernel/input.ts";
import type { Result } from "../output/result.ts";
import { type Place, placeWords, type Server, type Where } from "../place/place.ts";
import { type Identity, identityJson, identityResult, WHOAMI_JSON } from "./identity.ts";

export default command({
  target: "process",
  shows: "record",
  effects:
    "Reads only. At a server it asks there whether the credential is still valid. --web opens the documentation that " +
    "the server publishes; for local data that of the address it was last served at.",
  json: `${WHOAMI_JSON}; with --web {opened}`,
  examples: ["whoami", "whoami --profile sandbox --json"],
  exits: [exitCodes.notAuthorized],
  args: {},
  options: { web: flag("--web", "open the documentation of this place in the browser") },
  async run(context, { web }) {
    const where = await context.where();
    if (web) return openDocs(await docsOf(context, where));
    return identityResult(where.kind === "server" ? await atServer(context, where) : await atHand(where));
  },
});

/** Where the place's documentation is published. */
async function docsOf(context: Context, where: Where): Promise<string> {
  if (where.kind === "server") return `${where.url}/docs`;
  const { readSetting } = await import("../../core/platform/settings.ts");
  const [docs, address] = await context.withStore(async ({ store }) => [
    await store.read(readSetting, "docs_url"),
    await store.read(readSetting, "public_url"),
  ]);
  const found = docs ?? (address === null ? null : `${address}/docs`);
  if (found !== null) return found;
  throw new CliError("no_page", "This data was never served, so that it has no pages.", "esimctl serve serves it.");
}

async function openDocs(url: string): Promise<Result> {
  const { openInBrowser } = await import("../output/browser.ts");
  await openInBrowser(url);
  return { json: { opened: url }, text: () => `Opened ${url}` };
}

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

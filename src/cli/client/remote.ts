import packageFile from "../../../package.json" with { type: "json" };
import { environments } from "../../core/kernel/environment.ts";
import { usageError } from "../kernel/errors.ts";
import { readSecretArgument, secret, text } from "../output/prompts.ts";
import { placeWords, type Server } from "../place/place.ts";
import type { ActsFor, Caller } from "./api.ts";
import { type Answer, type Api, asAnswer, type Method, type RequestContent } from "./api.ts";
import { claimsOf } from "./claims.ts";
import { createExchange, type Exchange, type Incoming } from "./http-exchange.ts";
import { repeatsOf } from "./network-faults.ts";
import { type Credential, createTokens, type Keeper, type TokenSource } from "./tokens.ts";

/** The v1 API at a server, signed in. */
export interface Connection {
  api: Api;
  tokens: TokenSource;
}

/** Runs `work` with the v1 API over HTTP, as the credential's partner. Throws CliError, see `connect`. */
export async function withRemoteApi<T>(
  caller: Caller,
  { server, actsFor }: { server: Server; actsFor: ActsFor },
  work: (api: Api) => Promise<T>,
): Promise<T> {
  refusePartner(server, actsFor);
  const credential = await credentialOf(caller, server);
  const { api } = await connect(caller, { server, credential, keeper: await keeperOf(server) });
  return work(api);
}

/** At a server the credential decides the partner and the environment. */
function refusePartner(server: Server, { partner, sandbox }: ActsFor): void {
  if (partner === undefined && !sandbox) return;
  const [flag, means] =
    partner === undefined
      ? ["--sandbox", "A sandbox credential (sk_test_…) acts in the sandbox: sign in with one."]
      : ["--partner", "Leave it out, or act on local data: add --data DIR."];
  throw usageError(`${flag} does not apply at ${placeWords(server)}: the credential says who acts.`, means);
}

/** The server's credential; missing parts are prompted for. */
export async function credentialOf(caller: Caller, server: Server): Promise<Credential> {
  const { globals } = caller;
  const clientId = server.clientId ?? (await text("Client id:", "--client-id", globals));
  const typed = server.clientSecret;
  const clientSecret =
    typed === undefined
      ? await secret("Client secret:", "--client-secret", globals)
      : await readSecretArgument(typed, "Client secret:", globals);
  return { url: server.url, clientId: clientId.trim(), clientSecret: clientSecret.trim() };
}

/** A profile's token is kept beside it. A credential named for one command is not kept. */
export async function keeperOf({ profile }: Server): Promise<Keeper | null> {
  if (profile === null) return null;
  const { keepToken, readToken } = await import("../place/profiles.ts");
  return { read: () => readToken(profile), keep: (token) => keepToken(profile, token) };
}

/**
 * Signs in and returns the API over HTTP. Signing in comes first, so that a wrong secret is reported before any work is
 * done. Throws CliError: what the server refuses (exit code 4), and what the network does.
 */
export async function connect(
  caller: Caller,
  { server, credential, keeper }: { server: Server; credential: Credential; keeper: Keeper | null },
): Promise<Connection> {
  const exchange = createExchange({ globals: caller.globals, signal: caller.interruption });
  const tokens = createTokens(credential, exchange, keeper);
  const claims = claimsOf((await tokens.current()).access_token);
  const api: Api = {
    actsAs: claims === null ? credential.clientId : `${credential.clientId}, ${claims.environment}`,
    environment: environments.find((one) => one === claims?.environment) ?? null,
    address: claims?.publicUrl ?? server.url,
    async request<T>(method: Method, path: string, asked: RequestContent = {}): Promise<Answer<T>> {
      const answer = await signedIn(exchange, tokens, outgoing(server.url, { method, path, asked }));
      return asAnswer<T>(answer.status, answer.headers, answer.text);
    },
  };
  return { api, tokens };
}

type Unsigned = Parameters<Exchange>[0];

function outgoing(
  url: string,
  { method, path, asked }: { method: Method; path: string; asked: RequestContent },
): Unsigned {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(asked.query ?? {})) if (value !== undefined) given.set(name, `${value}`);
  const query = given.size === 0 ? "" : `?${given}`;
  const headers = { accept: "application/json", "user-agent": `esimctl/${packageFile.version}`, ...asked.headers };
  return {
    method,
    url: `${url}${path}${query}`,
    headers: asked.body === undefined ? headers : { ...headers, "content-type": "application/json" },
    ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
    repeats: repeatsOf(method, path, headers),
  };
}

/** Sends with the current token; after a 401, which has no effect, it is renewed once. */
async function signedIn(exchange: Exchange, tokens: TokenSource, request: Unsigned): Promise<Incoming> {
  const send = (token: string) =>
    exchange({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });
  const token = await tokens.current();
  const answer = await send(token.access_token);
  return answer.status === 401 ? send((await tokens.renew(token)).access_token) : answer;
}

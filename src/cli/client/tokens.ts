import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { isForbidding } from "../kernel/failure.ts";
import type { KeptToken } from "../place/profiles.ts";
import type { Exchange, Incoming } from "./http-exchange.ts";

/** A credential and its server. */
export interface Credential {
  /** The server's address, without a slash at its end. */
  url: string;
  clientId: string;
  clientSecret: string;
}

/** Where tokens of a profile are kept between two commands. */
export interface Keeper {
  read(): KeptToken | null;
  keep(token: KeptToken): void;
}

/** Access tokens of one credential. */
export interface TokenSource {
  /** A token that does not expire soon: the current one, the kept one, or a new one. */
  current(): Promise<KeptToken>;
  /** A new one in place of one that was refused. */
  renew(refused: KeptToken): Promise<KeptToken>;
}

/** A token this near to its end (ms) may not outlive the request. */
const MARGIN = 60_000;

/** What a person may do about a refusal of the token endpoint (contract: Authentication, 7). */
const hints: Readonly<Record<string, string>> = {
  invalid_client: "Check the client id and the secret: they must be the ones that belong together, whole.",
  invalid_request: "Give the client id (sk_live_… or sk_test_…) and the secret whole, as they were issued.",
  unauthorized_client: "Ask the operator to resume the account.",
};

/** Gets tokens by client credentials, one request at a time. Throws CliError; exit code 4 when it is refused. */
export function createTokens(credential: Credential, exchange: Exchange, keeper: Keeper | null): TokenSource {
  let token: KeptToken | null = null;
  let asked: Promise<KeptToken> | null = null;
  const ask = () => {
    asked ??= requestToken(credential, exchange, keeper !== null)
      .then((fresh) => {
        token = fresh;
        keeper?.keep(fresh);
        return fresh;
      })
      .finally(() => {
        asked = null;
      });
    return asked;
  };
  return {
    async current() {
      token ??= keeper?.read() ?? null;
      return token !== null && token.expires_at - Date.now() > MARGIN ? token : ask();
    },
    async renew(refused) {
      return token === null || token.access_token === refused.access_token ? ask() : token;
    },
  };
}

/** `kept`: the credential is a profile's, and another login replaces it. */
async function requestToken(credential: Credential, exchange: Exchange, kept: boolean): Promise<KeptToken> {
  const { url, clientId, clientSecret } = credential;
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const asked = Date.now();
  const answer = await exchange({
    method: "POST",
    url: `${url}/api/v1/oauth/token`,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams(form).toString(),
    repeats: "reads",
  });
  const body = jsonOf(answer, url);
  if (answer.status !== 200) throw refusal(answer.status, body, { url, kept });
  const { access_token, expires_in } = body;
  if (typeof access_token !== "string" || typeof expires_in !== "number") throw notEsimctl(url);
  return { access_token, expires_at: asked + expires_in * 1000 };
}

interface TokenRequest {
  url: string;
  kept: boolean;
}

function refusal(status: number, { error, error_description }: Record<string, unknown>, asked: TokenRequest): CliError {
  const { url, kept } = asked;
  if (typeof error !== "string") return notEsimctl(url);
  const words = typeof error_description === "string" ? error_description : `The server answered ${error}.`;
  // A credential that cannot be one is refused like a wrong one.
  const refused = isForbidding(status) || error === "invalid_request";
  const hint = hints[error] ?? "Run it again with --verbose to see more.";
  const again = kept && error === "invalid_client" ? " esimctl login keeps them again." : "";
  return new CliError(error, words, hint + again, refused ? exitCodes.notAuthorized : exitCodes.failed);
}

/** The JSON object of an answer. Throws `not_esimctl` when it is none: something else listens there. */
function jsonOf({ text }: Incoming, url: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return { ...body };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw notEsimctl(url);
}

function notEsimctl(url: string): CliError {
  return new CliError(
    "not_esimctl",
    `What answers at ${url} is not the API of an esimctl.`,
    "Check the address: it is the one in the server's own links.",
  );
}

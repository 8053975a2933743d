import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { errors, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { Problem } from "../kernel/problem.ts";
import type { Store } from "../store/store.ts";
import { type Client, findClient, isAdmitted, isExpired } from "./client.ts";
import { isSecretOf } from "./secret.ts";
import { loadSigningKeys, type PublicJwk, type SigningKey, TOKEN_LIFETIME_S, verifiesAt } from "./signing-keys.ts";
import { TokenRefusal } from "./token-refusal.ts";

/** What a client sends to get a token. */
export interface TokenRequest {
  clientId: string;
  clientSecret: string;
  /** Space-separated; empty or left out: all the credential has. */
  scope?: string | undefined;
  /** The address of the peer that asks. */
  ip: string;
}

/** Contract: Token, as it is answered. */
export interface IssuedToken {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  scope: string;
}

/** A verified token's client, and the scopes of this very token. */
export interface TokenHolder {
  client: Client;
  scopes: string[];
  /** When the token expires (ms). */
  expiresAt: number;
}

/** The client of a genuine token that is too old; one that could still get a new token. */
export interface ExpiredToken {
  expired: Client;
}

/** Issuing and verifying, over one store. */
export interface Tokens {
  /** Contract: Token. Throws `TokenRefusal`. */
  issue(request: TokenRequest): Promise<IssuedToken>;
  /**
   * Who holds the token, as things are at this moment, for a request from the address `ip`. Throws `unauthorized`,
   * `partner_suspended`, `ip_not_allowed`, or `token_expired` where the client is none any more.
   */
  verify(token: string, ip: string): Promise<TokenHolder | ExpiredToken>;
  /** The public keys, for /.well-known/jwks.json. */
  jwks(): Promise<(PublicJwk & { kid: string; use: "sig"; alg: "EdDSA" })[]>;
}

interface VerifyingKey {
  key: KeyObject;
  retiredAt: number | null;
  published: Awaited<ReturnType<Tokens["jwks"]>>[number];
}

interface Keys {
  /** With the first part of each token that it signs. Null: it cannot be read. */
  signing: { header: string; key: KeyObject } | null;
  verifying: Map<string, VerifyingKey>;
}

interface Claims {
  /** The whole token: they are kept under its signature alone, which is quicker to find. */
  token: string;
  /** The key that signed the token. */
  kid: string;
  clientId: string;
  scopes: string[];
  expiresAt: number;
}

interface Dependencies {
  store: Store;
  clock: Clock;
  ids: Ids;
  issuer: string;
}

/** How far the clocks of several nodes may differ. */
const CLOCK_SKEW_S = 60;

/** Each entry counts as one: a bound by size takes room as entries come, a `max` takes all of it at once. */
const CACHED = { maxSize: 20_000, sizeCalculation: () => 1 };

/**
 * Issues and verifies access tokens. What it caches (keys, clients) holds for one epoch of reference data, so that a
 * revocation or suspension by any process counts at the next request; a cached token's expiry is checked at each use.
 */
export function createTokens(deps: Dependencies): Tokens {
  const { store, clock, issuer } = deps;
  const verified = new LRUCache<string, Claims>(CACHED);
  const clients = new LRUCache<string, Client>(CACHED);
  let keys: Keys | null = null;
  let epochOfCaches = -1;

  const keysOf = (epoch: number): Keys | null => (epoch === epochOfCaches ? keys : null);

  async function renew(epoch: number): Promise<Keys> {
    clients.clear();
    const next = await readKeys(store);
    if (keys === null || !sameKeys(keys, next)) verified.clear();
    keys = next;
    epochOfCaches = epoch;
    return next;
  }

  async function fresh(): Promise<Keys> {
    const epoch = await store.epoch();
    return keysOf(epoch) ?? renew(epoch);
  }

  async function readClient(clientId: string): Promise<Client | null> {
    const epoch = epochOfCaches;
    const client = await store.read(findClient, clientId);
    // Read under an epoch that has passed by now: good for this request, not for the cache.
    if (client !== null && epoch === epochOfCaches) clients.set(clientId, client);
    return client;
  }

  function knownClaims(token: string, current: Keys): Claims | undefined {
    const known = verified.get(signatureOf(token));
    if (known === undefined || known.token !== token) return undefined;
    usableKey(current, known.kid, clock.now());
    return known;
  }

  async function readClaims(token: string, current: Keys): Promise<Claims> {
    const claims = await verifySignature(token, current, issuer, clock);
    // The keys may have changed while the signature was verified.
    if (keys === current) verified.set(signatureOf(token), claims);
    return claims;
  }

  return {
    issue: async (request) =>
      issueToken(deps, await fresh(), { request, known: clients.get(request.clientId), read: readClient }),
    async verify(token, ip) {
      // Every request waits for this: what is at hand is not awaited.
      const epoch = await store.epoch();
      const current = keysOf(epoch) ?? (await renew(epoch));
      const claims = knownClaims(token, current) ?? (await readClaims(token, current));
      const client = clients.get(claims.clientId) ?? (await readClient(claims.clientId));
      if (claims.expiresAt <= clock.now()) return expiredHolder(client, ip);
      return { client: usableClient(client, ip, clock.now()), scopes: claims.scopes, expiresAt: claims.expiresAt };
    },
    jwks: async () => publishedAt(await fresh(), clock.now()),
  };
}

interface Asking {
  request: TokenRequest;
  /** The client as the cache has it. */
  known: Client | undefined;
  read(clientId: string): Promise<Client | null>;
}

async function issueToken(
  { store, clock, ids, issuer }: Dependencies,
  keys: Keys,
  asked: Asking,
): Promise<IssuedToken> {
  const client = await authenticated(store, asked, clock.now());
  const scope = grantedScopes(asked.request.scope, client.scopes).join(" ");
  const access_token = mint(keys, { client, scope, issuer, now: clock.now(), jti: ids.uuid(clock.now()) });
  return { access_token, token_type: "Bearer", expires_in: TOKEN_LIFETIME_S, scope };
}

/** The client of a token, if it may be used now from this address. Throws as `Tokens.verify` says. */
function usableClient(client: Client | null, ip: string, now: number): Client {
  if (!client?.valid) throw new Problem("unauthorized", "The credential of this token was revoked.");
  if (isExpired(client, now)) throw new Problem("unauthorized", "The credential of this token has expired.");
  if (client.suspended) throw new Problem("partner_suspended", "The partner is suspended.");
  if (!isAdmitted(client, ip)) throw new Problem("ip_not_allowed", notAdmitted(ip));
  return client;
}

/** The last part of a token. */
function signatureOf(token: string): string {
  return token.slice(token.lastIndexOf(".") + 1);
}

/**
 * The client whose secret this is. Throws `TokenRefusal`. Only its right secret spares the read: a wrong one takes as
 * long as an unknown client.
 */
async function authenticated(store: Store, { request, known, read }: Asking, now: number): Promise<Client> {
  const { clientId, clientSecret: secret, ip } = request;
  const isRight = (one: Client | null) => isSecretOf(store.vault, { clientId, secret }, one);
  const kept = known ?? null;
  const spared = isRight(kept);
  const client = spared ? kept : await read(clientId);
  const matches = spared || isRight(client);
  if (client === null || !matches || !client.valid) {
    throw new TokenRefusal("invalid_client", "The client id or secret is wrong, or the credential was revoked.");
  }
  if (isExpired(client, now)) throw new TokenRefusal("invalid_client", "The credential has expired.");
  if (client.suspended) throw new TokenRefusal("unauthorized_client", "The partner is suspended.");
  if (!isAdmitted(client, ip)) throw new TokenRefusal("ip_not_allowed", notAdmitted(ip));
  return client;
}

function notAdmitted(ip: string): string {
  return `This credential may not be used from ${ip}.`;
}

async function readKeys(store: Store): Promise<Keys> {
  const stored = await store.read(loadSigningKeys, null);
  const signing = stored.findLast((key) => key.retiredAt === null);
  if (signing === undefined) throw new Error("the database has no signing key");
  return {
    signing: privateKeyOf(signing),
    verifying: new Map(
      stored.map(({ kid, publicJwk, retiredAt }) => {
        const key = createPublicKey({ key: { ...publicJwk }, format: "jwk" });
        return [kid, { key, retiredAt, published: { ...publicJwk, kid, use: "sig", alg: "EdDSA" } }];
      }),
    ),
  };
}

function publishedAt({ verifying }: Keys, now: number): VerifyingKey["published"][] {
  return [...verifying.values()].filter((key) => verifiesAt(key, now)).map(({ published }) => published);
}

/** Whether both hold the same public keys under the same IDs. */
function sameKeys(one: Keys, other: Keys): boolean {
  const same = [...one.verifying].every(
    ([kid, { published }]) => other.verifying.get(kid)?.published.x === published.x,
  );
  return same && one.verifying.size === other.verifying.size;
}

/** The key that verifies tokens under `kid`. Throws `unauthorized` without one, and for one retired for too long. */
function usableKey(keys: Keys, kid: string | undefined, now: number): KeyObject {
  const found = keys.verifying.get(kid ?? "");
  if (found !== undefined && verifiesAt(found, now)) return found.key;
  throw new Problem("unauthorized", "The access token was not issued here, or its signing key is not valid any more.");
}

function privateKeyOf({ kid, privateJwk }: SigningKey): Keys["signing"] {
  if (privateJwk === null) return null;
  const header = encoded({ alg: "EdDSA", typ: "at+jwt", kid });
  return { header, key: createPrivateKey({ key: { ...privateJwk }, format: "jwk" }) };
}

/** The scopes asked for, or all; throws `invalid_scope` for any the credential lacks. */
function grantedScopes(asked: string | undefined, has: string[]): string[] {
  const wanted = [...new Set((asked ?? "").split(" ").filter((scope) => scope !== ""))];
  const refused = wanted.filter((scope) => !has.includes(scope));
  if (refused.length > 0) throw new TokenRefusal("invalid_scope", `The credential does not have ${refused.join(" ")}.`);
  return wanted.length > 0 ? wanted : has;
}

interface Minting {
  client: Client;
  scope: string;
  issuer: string;
  now: number;
  jti: string;
}

/**
 * A signed token in the compact form of RFC 7515, by the key at hand: a signature by WebCrypto, as jose makes them,
 * goes to another thread and back, which takes longer than the signature.
 */
function mint({ signing }: Keys, { client, scope, issuer, now, jti }: Minting): string {
  if (signing === null) throw new Error("the signing key cannot be read: make a new one, esimctl keys rotate signing");
  const iat = Math.floor(now / 1000);
  const times = { iat, exp: iat + TOKEN_LIFETIME_S, jti };
  const { clientId: client_id, environment: env, partnerId: sub } = client;
  const signed = `${signing.header}.${encoded({ client_id, scope, env, iss: issuer, aud: issuer, sub, ...times })}`;
  return `${signed}.${sign(null, Buffer.from(signed), signing.key).toString("base64url")}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

async function verifySignature(token: string, keys: Keys, issuer: string, clock: Clock): Promise<Claims> {
  let signedBy = "";
  const keyOf = ({ kid = "" }: { kid?: string }) => {
    signedBy = kid;
    return usableKey(keys, kid, clock.now());
  };
  const claims = (payload: JWTPayload) => ({ token, ...claimsIn(payload, signedBy, clock.now()) });
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      issuer,
      audience: issuer,
      algorithms: ["EdDSA"],
      typ: "at+jwt",
      currentDate: new Date(clock.now()),
      requiredClaims: ["exp", "iat", "client_id", "scope"],
    });
    return claims(payload);
  } catch (error) {
    // Signature, issuer and audience were checked before: it was issued here, and `verify` compares its expiry.
    if (error instanceof errors.JWTExpired) return claims(error.payload);
    if (error instanceof Problem) throw error;
    throw new Problem("unauthorized", "The access token is malformed or was not issued here.");
  }
}

function expiredHolder(client: Client | null, ip: string): ExpiredToken {
  if (client?.valid && !client.suspended && isAdmitted(client, ip)) return { expired: client };
  throw expiredToken();
}

/** The refusal of a token that is too old. */
export function expiredToken(): Problem {
  return new Problem("token_expired", "The access token has expired.");
}

/** The claims of a verified token. Throws `unauthorized` for times that no token issued here has. */
function claimsIn(payload: JWTPayload, kid: string, now: number): Omit<Claims, "token"> {
  const [iat, exp] = [Number(payload.iat), Number(payload.exp)];
  const bounded = exp - iat <= TOKEN_LIFETIME_S && iat <= now / 1000 + CLOCK_SKEW_S;
  if (!bounded) throw new Problem("unauthorized", "The access token claims a time or a lifetime that is not allowed.");
  const scopes = String(payload.scope).split(" ");
  return { kid, clientId: String(payload.client_id), scopes, expiresAt: exp * 1000 };
}

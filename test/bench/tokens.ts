import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { fastify } from "fastify";
import { createCredential } from "../../src/core/credentials/create.ts";
import { type Clock, systemClock } from "../../src/core/kernel/clock.ts";
import { type Bench, compare, ownCpu, paceOf, type Side } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { benchStore, servePlatform } from "./platform.ts";

const CONNECTIONS = 32;

/**
 * Access tokens over HTTP, against what no token can be made without: the hash of a secret, and a signature; then
 * against a Fastify that makes these two for each request.
 */
export const tokens: Bench = async (scale) => {
  const opened = await benchStore();
  const { app, url } = await servePlatform(opened, hurriedClock());
  const signing = await serveSignatures();
  try {
    const { client_id, client_secret } = await opened.store.write(createCredential, {
      partner: "bench",
      live: true,
      actor: "bench",
    });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = String(new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret }));
    const load = { url: `${url}/api/v1/oauth/token`, method: "POST", connections: CONNECTIONS, headers, body } as const;
    const ours: Side = (amount) => httpLoad({ ...load, amount });
    const bare: Side = (amount) => httpLoad({ ...load, url: signing.url, amount });
    const sides = { what: "POST /oauth/token", ours, cpu: { ours: ownCpu, bare: ownCpu } };
    return [
      await compare(scale, { ...sides, bare: signatures(), peer: "an Ed25519 signature and a SHA-256, in a loop" }),
      await compare(scale, { ...sides, bare, peer: "bare Fastify, both for each request" }),
    ];
  } finally {
    await signing.close();
    await app.close();
    await opened.close();
  }
};

/**
 * Each look at it is five seconds later: the limits of the endpoint, 30 a minute of a client, are counted as ever, and
 * no minute of a fast client is as long.
 */
function hurriedClock(): Clock {
  let now = systemClock.now();
  return { now: () => (now += 5_000) };
}

/** A hash of a secret as long as ours, and a signature of a text as long as the signed part of a token. */
function signer(): () => string {
  const { privateKey } = generateKeyPairSync("ed25519");
  const [text, secret] = [randomBytes(360).toString("base64url"), randomBytes(32).toString("base64url")];
  return () => {
    createHash("sha256").update(secret).digest("hex");
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString("base64url")}`;
  };
}

/** The peer that does nothing else. */
function signatures(): Side {
  const make = signer();
  return (count) =>
    paceOf(count, async () => {
      for (let made = 0; made < count; made++) make();
    });
}

/** The peer that answers requests: it keeps what comes as it is, and looks at nothing. */
async function serveSignatures() {
  const make = signer();
  const app = fastify();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post("/", async () => ({ access_token: make(), token_type: "Bearer", expires_in: 3600 }));
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
}

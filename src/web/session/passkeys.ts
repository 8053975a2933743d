import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { addPasskey, type Passkey, passkeysOf, refusedPasskey } from "../../core/accounts/factors.ts";
import { keepChallenge, type SessionRow } from "../../core/accounts/sessions.ts";
import { proveByPasskey } from "../../core/accounts/sign-in.ts";
import { failSignIn, type Refused, refuseBlocked } from "../../core/accounts/sign-in-attempts.ts";
import { isLoopbackHost } from "../../core/kernel/http-url.ts";
import type { SignedInVisit } from "./visit.ts";

/** Whose passkeys they are, as browsers bind them: the public address, or this machine as it was called. */
function relyingParty({ request, context }: SignedInVisit): { origin: string; rpID: string } {
  const { host = "" } = request.headers;
  const local = URL.parse(`http://${host}`);
  const url = local !== null && isLoopbackHost(local.hostname) ? local : new URL(context.addresses.publicUrl);
  return { origin: url.origin, rpID: url.hostname };
}

/** What a device is asked to sign. The session keeps the challenge until it is answered. */
export async function askForPasskey(visit: SignedInVisit): Promise<object> {
  const keys = await visit.store.read(passkeysOf, visit.user.id);
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(visit).rpID,
    allowCredentials: keys.map(({ credentialId: id, transports }) => ({ id, transports })),
    userVerification: "preferred",
    challenge: new Uint8Array(visit.context.ids.bytes(32)),
  });
  await visit.store.write(keepChallenge, { id: visit.session.id, challenge: options.challenge });
  return options;
}

/** What a device makes a new passkey for. */
export async function offerPasskey(visit: SignedInVisit): Promise<object> {
  const { user, store, context } = visit;
  const keys = await store.read(passkeysOf, user.id);
  const options = await generateRegistrationOptions({
    rpName: "esimctl",
    rpID: relyingParty(visit).rpID,
    userName: user.email,
    userDisplayName: user.name,
    userID: new Uint8Array(Buffer.from(user.id)),
    attestationType: "none",
    excludeCredentials: keys.map(({ credentialId: id }) => ({ id })),
    authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
    challenge: new Uint8Array(context.ids.bytes(32)),
  });
  await store.write(keepChallenge, { id: visit.session.id, challenge: options.challenge });
  return options;
}

/** A response of a browser; the library checks its shape. */
function responseIn<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw refusedPasskey();
  }
}

/**
 * Adds the passkey that a device has made. Answers recovery codes where it is the first factor. Throws `validation`.
 */
export async function takePasskey(visit: SignedInVisit, response: string, label: string): Promise<string[]> {
  const { origin, rpID } = relyingParty(visit);
  const { session, store, user, actor, request } = visit;
  const verified = await verifyRegistrationResponse({
    response: responseIn<RegistrationResponseJSON>(response),
    expectedChallenge: session.challenge ?? "",
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: false,
  }).catch(() => null);
  if (session.challenge === null || verified?.verified !== true) throw refusedPasskey();
  const { credential } = verified.registrationInfo;
  const passkey: Omit<Passkey, "id"> = {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    transports: credential.transports ?? [],
    counter: credential.counter,
  };
  return store.write(addPasskey, { userId: user.id, label, passkey, actor }, request.id);
}

/** Gives the session its second factor by what a passkey has signed; the refusal is counted as a wrong code is. */
export async function verifyPasskey(visit: SignedInVisit, response: string): Promise<{ token: string } | Refused> {
  const { session, store, user, request } = visit;
  const attempt = { email: user.email, ip: request.ip };
  await store.read(refuseBlocked, attempt);
  const found = await verified(visit, session, response);
  if (found === null) {
    return { ...(await store.write(failSignIn, { ...attempt, userId: user.id }, request.id)), refused: "code" };
  }
  return store.write(proveByPasskey, { session, ...found }, request.id);
}

async function verified(
  visit: SignedInVisit,
  { challenge }: SessionRow,
  text: string,
): Promise<{ passkey: Passkey; counter: number } | null> {
  const response = responseIn<AuthenticationResponseJSON>(text);
  const keys = await visit.store.read(passkeysOf, visit.user.id);
  const passkey = keys.find(({ credentialId }) => credentialId === response.id);
  if (passkey === undefined || challenge === null) return null;
  const { origin, rpID } = relyingParty(visit);
  const { credentialId: id, publicKey, counter } = passkey;
  const result = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")), counter },
    requireUserVerification: false,
  }).catch(() => null);
  return result?.verified === true ? { passkey, counter: result.authenticationInfo.newCounter } : null;
}

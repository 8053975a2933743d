import { expect, test } from "vitest";
import { addPasskey, passkeysOf, removeFactor } from "../src/core/accounts/factors.ts";
import { findSession, keepChallenge, openSession } from "../src/core/accounts/sessions.ts";
import { proveByPasskey } from "../src/core/accounts/sign-in.ts";
import { person, startPages } from "./support/pages.ts";

/** A person with a passkey whose device counts, and a session that waits for it, as two requests read it at once. */
async function waiting(counter: number) {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const { id: userId } = await person(platform, { partner: "acme", role: "owner" });
  const { store } = platform;
  const content = { credentialId: "credential", publicKey: "key", transports: [], counter };
  await store.write(addPasskey, { userId, label: "Phone", passkey: content, actor: "test" });
  const token = await store.write(openSession, { userId, partnerId: null, agent: "test", factor: false });
  const challenged = async (challenge: string) => {
    const found = await store.read(findSession, token);
    if (found === null) throw new Error("the session has ended");
    await store.write(keepChallenge, { id: found.session.id, challenge });
    return { ...found.session, challenge };
  };
  const [passkey] = await store.read(passkeysOf, userId);
  if (passkey === undefined) throw new Error("the passkey was not added");
  return { store, userId, passkey, challenged };
}

const REFUSED = { errors: { passkey: ["was not accepted"] } };

test("what a passkey signed proves its user once, also where two requests verified it at one moment", async () => {
  // A device that does not count: the challenge alone is different each time.
  const { store, passkey, challenged } = await waiting(0);
  const session = await challenged("first");
  const proofs = [1, 2].map(() => store.write(proveByPasskey, { session, passkey, counter: 0 }));
  const settled = await Promise.allSettled(proofs);
  expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  await expect(store.write(proveByPasskey, { session, passkey, counter: 0 })).rejects.toMatchObject(REFUSED);
});

test("a passkey whose count goes back, or that was removed meanwhile, proves no one", async () => {
  const { store, userId, passkey, challenged } = await waiting(7);
  for (const counter of [7, 3, 0]) {
    const session = await challenged(`count ${counter}`);
    await expect(store.write(proveByPasskey, { session, passkey, counter })).rejects.toMatchObject(REFUSED);
  }
  const session = await challenged("removed");
  await store.write(removeFactor, { userId, id: passkey.id, mustHave: false, actor: "test" });
  await expect(store.write(proveByPasskey, { session, passkey, counter: 8 })).rejects.toMatchObject(REFUSED);
});

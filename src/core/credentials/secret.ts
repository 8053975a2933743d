import { hash, timingSafeEqual } from "node:crypto";
import type { Vault } from "../store/vault.ts";
import type { Client } from "./client.ts";

/** The SHA-256 of the secret that was found to be a client's, for as long as the client's record is kept. */
const proven = new WeakMap<Client, Buffer>();

/** No secret has this hash. */
const NONE = Buffer.alloc(32);

/**
 * Whether `secret` is that of the client of this ID; the same time whether it is wrong or there is no such client
 * (null). The keyed mark of a right one is made once for each record of a client: that costs four times its hash.
 */
export function isSecretOf(vault: Vault, given: { clientId: string; secret: string }, client: Client | null): boolean {
  const digest = hash("sha256", given.secret, "buffer");
  const known = client === null ? undefined : proven.get(client);
  if (timingSafeEqual(digest, known ?? NONE)) return known !== undefined;
  const matches = matchesMark(vault, given, client?.secretMark ?? null);
  if (matches && client !== null) proven.set(client, digest);
  return matches;
}

function matchesMark(vault: Vault, given: { clientId: string; secret: string }, mark: string | null): boolean {
  const found = Buffer.from(vault.credentialMark(given.clientId, given.secret));
  const wanted = Buffer.from(mark ?? "");
  // Only a mark that was written in has another length; it is compared all the same.
  const comparable = wanted.length === found.length ? wanted : Buffer.alloc(found.length);
  return timingSafeEqual(found, comparable) && mark !== null;
}

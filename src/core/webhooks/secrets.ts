import type { Ids } from "../kernel/ids.ts";
import type { Vault } from "../store/vault.ts";
import type { WebhookRow } from "./webhook.ts";

/** `whsec_` and 32 random bytes in base64url; the whole text is the HMAC key. */
export function newWebhookSecret(ids: Ids): string {
  return `whsec_${ids.bytes(32).toString("base64url")}`;
}

/** An endpoint's secrets as they are kept: sealed, the next one with the moment (ms) from which it signs alone. */
export type SealedSecrets = Pick<WebhookRow, "secret_sealed" | "next_secret_sealed" | "next_secret_from">;

/** What signs an attempt at `now` (ms): the secret of the first header, and of the second during an overlap. */
export function signingSecrets(vault: Vault, sealed: SealedSecrets, now: number) {
  const { secret_sealed, next_secret_sealed, next_secret_from } = sealed;
  if (next_secret_sealed === null || next_secret_from === null)
    return { current: vault.open(secret_sealed), next: null };
  const next = vault.open(next_secret_sealed);
  return now >= next_secret_from ? { current: next, next: null } : { current: vault.open(secret_sealed), next };
}

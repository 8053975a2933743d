import { createHmac, timingSafeEqual } from "node:crypto";
import type { WebhookId } from "../kernel/brand.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Cell, Vault } from "../store/vault.ts";
import type { WebhookRow } from "./webhook.ts";

/** How far a receiver lets the signature's time be from its own (contract: Signature). */
export const TOLERANCE_SECONDS = 300;

/** Lowercase hex HMAC-SHA256 of `<timestamp>.<body>`, keyed with the whole secret text (contract: Signature). */
export function signature(secret: string, timestamp: number, body: string | Buffer): string {
  return createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
}

/** `t=<unix seconds>,v1=<signature>`, as X-Webhook-Signature carries it. */
export function signatureHeader(timestamp: number, hex: string): string {
  return `t=${timestamp},v1=${hex}`;
}

/** The parts of a signature header, or null when it is in another form. */
export function parseSignatureHeader(header: string): { timestamp: number; hex: string } | null {
  const [, time, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header.trim()) ?? [];
  return time === undefined || hex === undefined ? null : { timestamp: Number(time), hex };
}

export type SignatureFault = "header_form" | "too_old" | "in_the_future" | "signature";

/** What is wrong with a delivery's signature at the moment `now` (ms), or null when it is right. */
export function signatureFault(
  delivery: { secret: string; header: string; body: string | Buffer },
  now: number,
): SignatureFault | null {
  const parts = parseSignatureHeader(delivery.header);
  if (parts === null) return "header_form";
  const expected = Buffer.from(signature(delivery.secret, parts.timestamp, delivery.body), "hex");
  if (!timingSafeEqual(expected, Buffer.from(parts.hex, "hex"))) return "signature";
  const age = now / 1000 - parts.timestamp;
  if (age > TOLERANCE_SECONDS) return "too_old";
  return age < -TOLERANCE_SECONDS ? "in_the_future" : null;
}

/** `whsec_` and 32 random bytes in base64url; the whole text is the HMAC key. */
export function newWebhookSecret(ids: Ids): string {
  return `whsec_${ids.bytes(32).toString("base64url")}`;
}

/** An endpoint's secrets as they are kept: sealed, the next one with the moment (ms) from which it signs alone. */
export type SealedSecrets = Pick<WebhookRow, "secret_sealed" | "next_secret_sealed" | "next_secret_from">;

/** Where an endpoint's secret is sealed. */
export function currentSecret(id: WebhookId): Cell {
  return { column: "webhook_endpoints.secret_sealed", row: id };
}

/** Where the secret that follows it is sealed. */
export function nextSecret(id: WebhookId): Cell {
  return { column: "webhook_endpoints.next_secret_sealed", row: id };
}

/** The same vault for one row, which opens each of its cells once: for as long as the attempts of a claim need it. */
export function openingOnce({ open }: Pick<Vault, "open">): Pick<Vault, "open"> {
  const opened = new Map<string, { sealed: string; row: string; plain: string }>();
  return {
    open(sealed, cell) {
      const known = opened.get(cell.column);
      if (known?.sealed === sealed && known.row === cell.row) return known.plain;
      const plain = open(sealed, cell);
      opened.set(cell.column, { sealed, row: cell.row, plain });
      return plain;
    },
  };
}

/** What signs an attempt at `now` (ms): the secret of the first header, and of the second during an overlap. */
export function signingSecrets(
  vault: Pick<Vault, "open">,
  endpoint: SealedSecrets & Pick<WebhookRow, "id">,
  now: number,
) {
  const { id, secret_sealed, next_secret_sealed, next_secret_from } = endpoint;
  const first = () => vault.open(secret_sealed, currentSecret(id));
  if (next_secret_sealed === null || next_secret_from === null) return { current: first(), next: null };
  const next = vault.open(next_secret_sealed, nextSecret(id));
  return now >= next_secret_from ? { current: next, next: null } : { current: first(), next };
}

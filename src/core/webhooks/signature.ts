import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";

/** How far a receiver lets the signature's time be from its own (contract: Signature). */
export const TOLERANCE_SECONDS = 300;

/** HMAC-SHA256 that has taken `<timestamp>.`: feed it the raw body, then take the digest in hex. */
export function startSignature(secret: string, timestamp: number): Hmac {
  return createHmac("sha256", secret).update(`${timestamp}.`);
}

/** Lowercase hex HMAC-SHA256 of `<timestamp>.<body>`, keyed with the whole secret text (contract: Signature). */
export function signature(secret: string, timestamp: number, body: string | Buffer): string {
  return startSignature(secret, timestamp).update(body).digest("hex");
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

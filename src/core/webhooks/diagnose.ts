import { parseSignatureHeader, type SignatureFault, signatureFault } from "./signature.ts";

/** What is right and what is wrong with a delivery that is checked by hand. */
export interface Diagnosis {
  valid: boolean;
  header: "ok" | "malformed";
  signature: "ok" | "wrong" | "not checked";
  timestamp: "ok" | "too old" | "in the future" | "not checked";
  /** Seconds since it was signed; null when the header cannot be read. */
  age_seconds: number | null;
  /** The probable cause, where one is recognized. */
  hint: string | null;
}

interface Checked {
  secret: string;
  header: string;
  body: string;
}

/** Finds which part of a signed delivery is wrong at the moment `now` (ms). */
export function diagnose(delivery: Checked, now: number): Diagnosis {
  const parts = parseSignatureHeader(delivery.header);
  if (parts === null) {
    const hint = "The header must read t=<unix seconds>,v1=<64 hex digits>, all of it, without its name.";
    const unread = { signature: "not checked", timestamp: "not checked", age_seconds: null } as const;
    return { valid: false, header: "malformed", ...unread, hint };
  }
  // At the moment it was signed only the signature itself can be wrong.
  const wrong = signatureFault(delivery, parts.timestamp * 1000) !== null;
  const fault = wrong ? "signature" : signatureFault(delivery, now);
  const age = Math.floor(now / 1000) - parts.timestamp;
  return {
    valid: fault === null,
    header: "ok",
    signature: wrong ? "wrong" : "ok",
    timestamp: wrong ? "not checked" : timeWords(fault),
    age_seconds: age,
    hint: hintFor(delivery, fault, parts.timestamp),
  };
}

function timeWords(fault: SignatureFault | null): Diagnosis["timestamp"] {
  if (fault === "too_old") return "too old";
  return fault === "in_the_future" ? "in the future" : "ok";
}

function hintFor(delivery: Checked, fault: SignatureFault | null, timestamp: number): string | null {
  if (fault === null) return null;
  if (fault === "too_old") return "Signed by this secret, but more than 300 seconds ago: receivers refuse it by now.";
  if (fault === "in_the_future") return "Signed by this secret, but its time is ahead: compare the clocks.";
  const right = (changed: Partial<Checked>) => signatureFault({ ...delivery, ...changed }, timestamp * 1000) === null;
  const { body, secret } = delivery;
  if (right({ body: body.replace(/\r?\n$/, "") })) return "The body has a line end too many; take it raw, as received.";
  if (right({ body: body.replaceAll("\r\n", "\n") })) return "The body's line ends were changed; take it raw.";
  if (right({ body: recoded(body) })) return "The body was parsed and serialized again; take it raw, as received.";
  if (right({ secret: secret.trim() })) return "The secret has blanks around it.";
  if (right({ secret: `whsec_${secret}` }))
    return "The secret lacks its whsec_ at the beginning; all of it is the key.";
  return "The body, or the secret, is not the one it was signed with.";
}

function recoded(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}

/** The two halves of an HTTP Basic header; null for one whose percent-encoding is malformed. */
interface Basic {
  clientId: string | null;
  clientSecret: string | null;
}

/** Reads an HTTP Basic header, each half form-encoded (RFC 6749 2.3.1); null when it is none. */
export function readBasic(authorization: string): Basic | null {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1];
  const text = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 1) return null;
  return { clientId: formDecoded(text.slice(0, colon)), clientSecret: formDecoded(text.slice(colon + 1)) };
}

function formDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

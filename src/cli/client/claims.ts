/** The claims of an access token that commands use (decisions: Tokens, keys, limits). */
export interface Claims {
  partnerId: string;
  environment: string;
  scopes: string[];
  /** The server's public address: the issuer. No slash at its end. */
  publicUrl: string;
}

/** Reads a token received from its issuer; the server verifies it. Null when it is not an esimctl JWT. */
export function claimsOf(token: string): Claims | null {
  const payload = token.split(".")[1];
  if (payload === undefined) return null;
  try {
    const { sub, env, scope, iss } = Object(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
    const texts = [sub, env, scope, iss];
    if (!texts.every((one) => typeof one === "string")) return null;
    const publicUrl = iss.replace(/\/+$/, "");
    return { partnerId: sub, environment: env, scopes: scope.split(" "), publicUrl };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** What an access token says of its holder (decisions: Tokens, keys, limits). */
export interface Claims {
  partnerId: string;
  environment: string;
  scopes: string[];
  /** The server's public address: the issuer. No slash at its end. */
  publicUrl: string;
}

/** Reads a token that we were given by its issuer; it is the server that verifies. Null when it is no JWT of ours. */
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

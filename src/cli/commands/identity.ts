import { claimsOf } from "../client/claims.ts";
import type { Result } from "../output/result.ts";
import type { Sheet } from "../output/sheet.ts";
import { moment, shown } from "../output/words.ts";
import type { Server } from "../place/place.ts";
import type { KeptToken } from "../place/profiles.ts";

/** The identity that `login` and `whoami` print. What does not apply is null. */
export interface Identity {
  place: "server" | "directory" | "database";
  server: string | null;
  data: string | null;
  database: string | null;
  profile: string | null;
  client_id: string | null;
  partner_id: string | null;
  environment: string | null;
  scopes: string[] | null;
  token_expires_at: string | null;
}

/** The keys of it. */
export const WHOAMI_JSON =
  "{place (server, directory, database), server, data, database, profile, client_id, partner_id, environment, " +
  "scopes, token_expires_at}; null where it does not apply";

/** The identity at a server, from its token. */
export function identityJson({ url, profile, clientId = "" }: Server, token: KeptToken): Identity {
  const claims = claimsOf(token.access_token);
  return {
    place: "server",
    server: url,
    data: null,
    database: null,
    profile,
    client_id: clientId,
    partner_id: claims?.partnerId ?? null,
    environment: claims?.environment ?? null,
    scopes: claims?.scopes ?? null,
    token_expires_at: new Date(token.expires_at).toISOString(),
  };
}

/** The identity as JSON and for people; fields that do not apply are left out for people. */
export function identityResult(json: Identity, note?: string): Result {
  const fields = (): Record<string, string> =>
    Object.fromEntries(
      Object.entries({
        server: json.server,
        data: json.data,
        database: json.database,
        profile: json.profile,
        "client id": json.client_id,
        "partner id": json.partner_id,
        environment: json.environment,
        scopes: json.scopes?.join(" ") ?? null,
        "token until": json.token_expires_at === null ? null : moment(json.token_expires_at),
      }).flatMap(([name, value]) => (value === null ? [] : [[name, shown(value)]])),
    );
  return { json, note, text: (sheet: Sheet) => sheet.fields(fields()) };
}

import { randomBytes } from "node:crypto";
import { invalid, messageOnly, success } from "./airalo-answers.ts";
import { readFields } from "./airalo-fields.ts";
import type { AiraloMemory } from "./airalo-memory.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

/** The credential of the simulated account. */
export const airaloClient = { id: "DEMO_CLIENT", secret: "DEMO_CLIENT_SECRET" };

/** A day, in seconds. */
const TOKEN_LIFE = 86_400;

/** `POST /token`: a bearer token for the account's credential. */
export function issueToken(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const fields = readFields(request, ["form", "multipart"]);
  const faults: Record<string, string> = {};
  for (const name of ["client_id", "client_secret", "grant_type"]) {
    if (fields.text(name) === null) faults[name] = `The ${name.replaceAll("_", " ")} field is required.`;
  }
  if ((fields.text("grant_type") ?? "client_credentials") !== "client_credentials") {
    faults.grant_type = "The selected grant type is invalid.";
  }
  if ((fields.text("client_id") ?? airaloClient.id) !== airaloClient.id) {
    faults.client_id = "The selected client id is invalid.";
  }
  if (Object.keys(faults).length > 0) return invalid(faults);
  if (fields.text("client_secret") !== airaloClient.secret) return messageOnly(401, "Client authentication failed");
  const access_token = randomBytes(48).toString("base64url");
  memory.tokens.set(access_token, request.now + TOKEN_LIFE * 1000);
  return success({ token_type: "Bearer", expires_in: TOKEN_LIFE, access_token });
}

/** The bearer token of a request; null: it has none. */
export function bearerOf({ headers }: ProviderRequest): string | null {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}

/** Whether a request has a token that is still good. */
export function isAuthorized({ tokens }: AiraloMemory, request: ProviderRequest): boolean {
  const until = tokens.get(bearerOf(request) ?? "");
  return until !== undefined && request.now < until;
}

/** The OAuth errors of the token endpoint (contract: Authentication, 7), and `ip_not_allowed`. */
export const tokenErrors = [
  "invalid_request",
  "invalid_client",
  "invalid_scope",
  "unauthorized_client",
  "ip_not_allowed",
  "server_error",
] as const;
export type TokenError = (typeof tokenErrors)[number];

const statuses: Readonly<Record<TokenError, number>> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_scope: 400,
  unauthorized_client: 403,
  ip_not_allowed: 403,
  server_error: 500,
};

/** Why no token was issued; the token endpoint's own error object. */
export class TokenRefusal extends Error {
  readonly error: TokenError;

  constructor(error: TokenError, description: string) {
    super(description);
    this.name = "TokenRefusal";
    this.error = error;
  }

  get status(): number {
    return statuses[this.error];
  }
}

const statuses = {
  invalid_request: 400,
  invalid_scope: 400,
  invalid_client: 401,
  unauthorized_client: 403,
  server_error: 500,
} as const;

/** The OAuth errors of the token endpoint (contract: Authentication, 7). */
export type TokenError = keyof typeof statuses;

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

/** What a carrier or a supplier may answer, and staff may record in its place. */
export const answerLimits = {
  /** Characters of the number under which it keeps a request. */
  confirmationNumber: 100,
  /** Why it refused, for programs. */
  errorType: "^[A-Za-z0-9_.-]{1,64}$",
  /** Characters of why it refused, for people. */
  errorMessage: 500,
} as const;

/** What an error type must be, in words. */
export const ERROR_TYPE_WORDS = "must be 1 to 64 letters, digits, dots, hyphens and underscores";

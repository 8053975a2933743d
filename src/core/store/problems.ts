/** A store that cannot be opened or used, in words for whoever starts the program. */
export class StoreError extends Error {
  readonly hint: string;
  /** Set where the key file is another database's. */
  readonly wrongKey: boolean;

  constructor(message: string, hint: string, cause?: unknown, { wrongKey = false } = {}) {
    super(message, { cause });
    this.name = "StoreError";
    this.hint = hint;
    this.wrongKey = wrongKey;
  }
}

/** A store that cannot be opened or used, in words for whoever starts the program. */
export class StoreError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StoreError";
    this.hint = hint;
  }
}

import { inspect } from "node:util";

const REDACTED = "[redacted]";

/** A value that no log, error or print-out may show: only `reveal` gives it out. */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value itself, for the one place that needs it. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

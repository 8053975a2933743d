import { invalid, Problem } from "../../core/kernel/problem.ts";

const DEEPEST = 64;
const MOST_FAULTS = 50;

function fault(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain a NUL character";
  return text.isWellFormed() ? undefined : "must be well-formed Unicode: it holds half a surrogate pair";
}

/** A walk through a payload. Its recursion is as deep as the deepest payload that is let pass. */
class Walk {
  readonly errors = new Map<string, string[]>();
  private readonly path: (string | number)[] = [];

  /** Looks into a list or an object. */
  into(container: object): void {
    if (this.path.length >= DEEPEST) {
      throw new Problem("invalid_request", `The body is nested deeper than ${DEEPEST} levels.`);
    }
    if (Array.isArray(container)) this.items(container);
    else this.fields(container);
  }

  private get isFull(): boolean {
    return this.errors.size >= MOST_FAULTS;
  }

  /** By index: Object.entries would make a list of each of them, and half a million fit into a body. */
  private items(list: readonly unknown[]): void {
    for (let index = 0; index < list.length && !this.isFull; index++) this.value(index, list[index]);
  }

  private fields(object: object): void {
    for (const name of Object.keys(object)) {
      if (this.isFull) return;
      // A broken name cannot be repeated in an answer: its place is named instead.
      const broken = fault(name);
      if (broken !== undefined) this.note("(field name)", broken);
      else this.value(name, Reflect.get(object, name));
    }
  }

  private value(key: string | number, value: unknown): void {
    if (typeof value === "string") {
      const broken = fault(value);
      if (broken !== undefined) this.note(key, broken);
    } else if (typeof value === "object" && value !== null) {
      this.path.push(key);
      this.into(value);
      this.path.pop();
    }
  }

  private note(key: string | number, broken: string): void {
    this.errors.set([...this.path, key].join("."), [broken]);
  }
}

/**
 * Refuses what no field may hold: NUL characters and lone surrogates in any string or field name (`validation`, naming
 * the first 50 paths), and nesting deeper than 64 (`invalid_request`).
 */
export function checkText(payload: unknown): void {
  if (typeof payload !== "object" || payload === null) return;
  const walk = new Walk();
  walk.into(payload);
  if (walk.errors.size > 0) throw invalid(Object.fromEntries(walk.errors));
}

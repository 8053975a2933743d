import { invalid, Problem } from "../../core/kernel/problem.ts";

const DEEPEST = 64;
const MOST_FAULTS = 50;

function fault(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain a NUL character";
  return text.isWellFormed() ? undefined : "must be well-formed Unicode: it holds half a surrogate pair";
}

/** How far a walk through a payload is, and what it has found. */
interface Walk {
  errors: Map<string, string[]>;
  path: (string | number)[];
}

const isFull = ({ errors }: Walk) => errors.size >= MOST_FAULTS;

function note({ errors, path }: Walk, key: string | number, broken: string): void {
  errors.set([...path, key].join("."), [broken]);
}

/** Looks into a list or an object. Recurses as deep as the deepest payload that is let pass. */
function lookInto(container: object, walk: Walk): void {
  if (walk.path.length >= DEEPEST) {
    throw new Problem("invalid_request", `The body is nested deeper than ${DEEPEST} levels.`);
  }
  if (Array.isArray(container)) {
    // By index: Object.entries would make a list of each item, and half a million fit into a body.
    for (let at = 0; at < container.length && !isFull(walk); at++) lookAt(at, container[at], walk);
    return;
  }
  for (const name of Object.keys(container)) {
    if (isFull(walk)) return;
    // A broken name cannot be repeated in an answer: its place is named instead.
    const broken = fault(name);
    if (broken !== undefined) note(walk, "(field name)", broken);
    else lookAt(name, Reflect.get(container, name), walk);
  }
}

function lookAt(key: string | number, value: unknown, walk: Walk): void {
  if (typeof value === "string") {
    const broken = fault(value);
    if (broken !== undefined) note(walk, key, broken);
  } else if (typeof value === "object" && value !== null) {
    walk.path.push(key);
    lookInto(value, walk);
    walk.path.pop();
  }
}

/**
 * Refuses what no field may hold: NUL characters and lone surrogates in any string or field name (`validation`, naming
 * the first 50 paths), and nesting deeper than 64 (`invalid_request`).
 */
export function checkText(payload: unknown): void {
  if (typeof payload !== "object" || payload === null) return;
  const walk: Walk = { errors: new Map(), path: [] };
  lookInto(payload, walk);
  if (walk.errors.size > 0) throw invalid(Object.fromEntries(walk.errors));
}

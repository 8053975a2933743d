import { invalid, Problem } from "../../core/kernel/problem.ts";

const DEEPEST = 64;
const MOST_FAULTS = 50;

interface Frame {
  container: object;
  depth: number;
  parent: Frame | undefined;
  key: string;
}

function pathOf(frame: Frame | undefined, key: string): string {
  const keys = [key];
  for (let at = frame; at?.parent !== undefined; at = at.parent) keys.push(at.key);
  return keys.reverse().join(".");
}

function fault(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain a NUL character";
  return text.isWellFormed() ? undefined : "must be well-formed Unicode: it holds half a surrogate pair";
}

function nest(value: object, parent: Frame | undefined, key: string): Frame {
  const depth = (parent?.depth ?? 0) + 1;
  if (depth > DEEPEST) throw new Problem("invalid_request", `The body is nested deeper than ${DEEPEST} levels.`);
  return { container: value, depth, parent, key };
}

/**
 * Refuses what no field may hold: NUL characters and lone surrogates in any string or field name (`validation`, naming
 * the path), and nesting deeper than 64 (`invalid_request`). Walks without recursion: the depth is the sender's choice.
 */
export function checkText(payload: unknown): void {
  const errors = new Map<string, string[]>();
  if (typeof payload !== "object" || payload === null) return;
  const open = [nest(payload, undefined, "")];
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    for (const [key, value] of Object.entries(frame.container)) {
      const keyFault = fault(key);
      const valueFault = typeof value === "string" ? fault(value) : undefined;
      // A broken name cannot be repeated in an answer: its place is named instead.
      if (keyFault !== undefined) errors.set(pathOf(frame, "(field name)"), [keyFault]);
      else if (valueFault !== undefined) errors.set(pathOf(frame, key), [valueFault]);
      else if (typeof value === "object" && value !== null) open.push(nest(value, frame, key));
    }
    if (errors.size >= MOST_FAULTS) break;
  }
  if (errors.size > 0) throw invalid(Object.fromEntries(errors));
}

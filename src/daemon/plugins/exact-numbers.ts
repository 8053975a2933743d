import { type FieldErrors, invalid } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";
import { readJson } from "./bodies.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body's text on routes that need exact numbers, if it may hold one that is not. */
    inexactText: string | undefined;
  }
}

/** Most fields that are named in one answer. */
const MOST = 50;

/**
 * Refuses bodies of this scope's routes with numbers that a double does not hold exactly: nothing that is kept changes
 * silently, and payloads that differ in it never compare equal. A field that the route ignores is not looked at. Throws
 * `validation` naming the paths, once the shape is valid.
 */
export function requireExactNumbers(app: App): void {
  app.decorateRequest("inexactText", undefined);
  readJson(app, (request, body) => {
    const text = body.toString("utf8");
    if (mayBeInexact(text)) request.inexactText = text;
  });
  app.addHook("preHandler", ({ inexactText, body }, _reply, done) => {
    const inexact = inexactText === undefined ? [] : inexactNumbers(inexactText);
    const kept = inexact.filter((path) => holds(body, path));
    if (kept.length > 0) throw invalid(faultsAt(kept.slice(0, MOST)));
    done();
  });
}

function faultsAt(paths: string[][]): FieldErrors {
  const words = ["must be a number that a double holds exactly; send it as a string"];
  return Object.fromEntries(paths.map((path) => [path.join("."), words]));
}

/** Whether there is still something at a path of the body, after what is not declared fell away. */
function holds(body: unknown, path: readonly string[]): boolean {
  let at = body;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = Reflect.get(at, key);
  }
  return true;
}

// A number with 16 digits or more, or with an exponent. Others a double always holds exactly.
const SUSPICIOUS = /[:,[\s]-?(?:[\d.]{16}|[\d.]+[eE])/;

const LITERAL = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether a JSON text may hold a number that a double does not hold exactly: cheap, and never wrongly false. */
export function mayBeInexact(json: string): boolean {
  return SUSPICIOUS.test(json);
}

/** A decimal as its significant digits and the power of ten of the last one: 1.50 is "15e-1". Zero is "0". */
function decimal(literal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = LITERAL.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  if (end === 0) return "0";
  return `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** Whether reading a JSON number and writing it again leaves its value as it was: 0.1, 1e3, not 1e400. */
export function isExact(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && decimal(literal) === decimal(String(value));
}

/**
 * The paths of the numbers in a JSON text that are not exact. The text is valid and was found not to be nested deeply:
 * this parses it again, by recursion.
 */
function inexactNumbers(json: string): string[][] {
  const found = new Map<unknown, string[]>();
  const root: unknown = JSON.parse(json, note);

  function note(this: unknown, key: string, value: unknown, { source }: { source?: string } = {}): unknown {
    if (typeof value === "number" && source !== undefined && !isExact(source)) {
      const keys = found.get(this);
      if (keys === undefined) found.set(this, [key]);
      else keys.push(key);
    }
    return value;
  }

  return found.size === 0 ? [] : pathsOf(root, found);
}

function pathsOf(root: unknown, found: ReadonlyMap<unknown, string[]>): string[][] {
  const paths: string[][] = [];
  const open: { at: unknown; path: string[] }[] = [{ at: root, path: [] }];
  const into = (child: unknown, path: readonly string[], key: string) => {
    if (typeof child === "object" && child !== null) open.push({ at: child, path: [...path, key] });
  };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, path } = next;
    for (const key of found.get(at) ?? []) paths.push([...path, key]);
    if (typeof at !== "object" || at === null) continue;
    // Object.entries would make a list of each item, and half a million fit into a body.
    if (!Array.isArray(at)) for (const key of Object.keys(at)) into(Reflect.get(at, key), path, key);
    else for (let index = 0; index < at.length; index++) into(at[index], path, String(index));
  }
  return paths;
}

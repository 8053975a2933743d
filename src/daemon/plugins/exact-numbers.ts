import { type FieldErrors, invalid } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";
import { inexactNumbers, mayBeInexact } from "../validation/exact-numbers.ts";
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
  app.addHook("preHandler", async ({ inexactText, body }) => {
    if (inexactText === undefined) return;
    const kept = inexactNumbers(inexactText).filter((path) => holds(body, path));
    if (kept.length > 0) throw invalid(faultsAt(kept.slice(0, MOST)));
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

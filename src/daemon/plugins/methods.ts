import type { FastifyRequest, HTTPMethods } from "fastify";
import router from "find-my-way";
import type { App, KnownPath } from "../context/fastify.ts";
import { LONGEST_PARAMETER } from "./http-rules.ts";

/** Patterns that differ in the names of their parameters only are the same path. */
function samePath(pattern: string): string {
  return pattern.replaceAll(/:[A-Za-z0-9_]+/g, ":x");
}

/** Whether the path of one pattern may be one of another, whose parameters are whole segments; both by segments. */
function covers(own: string[], asked: string[]): boolean {
  return own.length === asked.length && own.every((part, at) => part.startsWith(":") || part === asked[at]);
}

/** A path with the methods that it has a route for. */
interface Known {
  url: string;
  methods: Set<string>;
}

/** Refuses a wrong method on a known path with 405 and Allow. Call before any route; the result, after the last. */
export function registerMethods(app: App): () => void {
  const known = new Map<string, Known>();
  let paths: ReturnType<typeof pathsOf> | undefined;
  app.addHook("onRoute", ({ url, method, config }) => {
    if (config?.allow !== undefined) return;
    const path = known.get(samePath(url)) ?? { url, methods: new Set() };
    for (const each of [method].flat()) path.methods.add(each.toUpperCase());
    known.set(samePath(url), path);
  });
  app.decorate("knownPath", (target) => {
    paths ??= pathsOf([...known.values()]);
    const found = paths.find("GET", target);
    // The router allows an empty parameter, but /products/ is no path.
    return found === null || Object.values(found.params).includes("") ? undefined : found.store;
  });
  return () => {
    app.register(async (scope) => {
      // Each is compared with all others: split once, that takes a tenth of the time.
      const patterns = [...known.values()].map((path) => ({ ...path, parts: path.url.split("/") }));
      for (const { url, methods, parts } of patterns) {
        // A path may be one of another pattern, too: GET /orders/bulk is GET /orders/{id} unless it has a route.
        const others = patterns.flatMap((other) => (covers(other.parts, parts) ? [...other.methods] : []));
        const wrong = [...new Set(others)].filter((method) => !methods.has(method)) as HTTPMethods[];
        const config = { public: true, allow: allowOf(methods) };
        if (wrong.length > 0) scope.route({ method: wrong, url, config, schema: { hide: true }, handler: never });
      }
    });
  };
}

/** For the other methods: a route for each of them on each path would take most of the time of a start. */
function pathsOf(known: Known[]) {
  const paths = router({ maxParamLength: LONGEST_PARAMETER });
  for (const { url, methods } of known) {
    paths.on("GET", url, never, { url, allow: allowOf(methods) } satisfies KnownPath);
  }
  return paths;
}

function allowOf(methods: Set<string>): string {
  return [...methods].sort().join(", ");
}

/** The path at which a method was asked for that it has no route for; undefined for an unknown path as well. */
export function pathOfUnusedMethod({ is404, server, url }: FastifyRequest): KnownPath | undefined {
  return is404 ? server.knownPath?.(url) : undefined;
}

function never(): never {
  throw new Error("the access hook refuses this request before");
}

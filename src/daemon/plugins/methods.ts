import type { FastifyRequest, HTTPMethods } from "fastify";
import router from "find-my-way";
import type { App, KnownPath } from "../context/fastify.ts";
import { LONGEST_PARAMETER } from "./http-rules.ts";

/** Patterns that differ in the names of their parameters only are the same path. */
function samePath(pattern: string): string {
  return pattern.replaceAll(/:[A-Za-z0-9_]+/g, ":x");
}

/** Whether the path of one pattern may be one of another, whose parameters are whole segments. */
function covers(pattern: string, path: string): boolean {
  const [own, asked] = [pattern.split("/"), path.split("/")];
  return own.length === asked.length && own.every((part, at) => part.startsWith(":") || part === asked[at]);
}

/** Refuses a wrong method on a known path with 405 and Allow. Call before any route; the result, after the last. */
export function registerMethods(app: App): () => void {
  const known = new Map<string, { url: string; methods: Set<string> }>();
  const paths = router({ maxParamLength: LONGEST_PARAMETER });
  app.addHook("onRoute", ({ url, method, config }) => {
    if (config?.allow !== undefined) return;
    const path = known.get(samePath(url)) ?? { url, methods: new Set() };
    for (const each of [method].flat()) path.methods.add(each.toUpperCase());
    known.set(samePath(url), path);
  });
  app.decorate("knownPath", (target) => {
    const found = paths.find("GET", target);
    // The router allows an empty parameter, but /products/ is no path.
    return found === null || Object.values(found.params).includes("") ? undefined : found.store;
  });
  return () => {
    app.register(async (scope) => {
      const patterns = [...known.values()];
      for (const { url, methods } of patterns) {
        // A path may be one of another pattern, too: GET /orders/bulk is GET /orders/{id} unless it has a route.
        const others = patterns.flatMap((other) => (covers(other.url, url) ? [...other.methods] : []));
        const wrong = [...new Set(others)].filter((method) => !methods.has(method)) as HTTPMethods[];
        const allow = [...methods].sort().join(", ");
        const config = { public: true, allow };
        if (wrong.length > 0) scope.route({ method: wrong, url, config, schema: { hide: true }, handler: never });
        // For all other methods: a route for each of them on each path takes most of the time of a start.
        paths.on("GET", url, never, { url, allow } satisfies KnownPath);
      }
    });
  };
}

/** The path at which a method was asked for that it has no route for; undefined for an unknown path as well. */
export function pathOfUnusedMethod({ is404, server, url }: FastifyRequest): KnownPath | undefined {
  return is404 ? server.knownPath?.(url) : undefined;
}

function never(): never {
  throw new Error("the access hook refuses this request before");
}

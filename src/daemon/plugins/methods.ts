import { METHODS } from "node:http";
import type { HTTPMethods } from "fastify";
import type { App } from "../context/fastify.ts";

/** Patterns that differ in the names of their parameters only are the same path. */
function samePath(pattern: string): string {
  return pattern.replaceAll(/:[A-Za-z0-9_]+/g, ":x");
}

/** Refuses a wrong method on a known path with 405 and Allow. Call before any route; the result, after the last. */
export function registerMethods(app: App): () => void {
  // Fastify knows the usual methods only; every method that Node's parser accepts gets the Allow header.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const known = new Map<string, { url: string; methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method, config }) => {
    if (config?.allow !== undefined) return;
    const path = known.get(samePath(url)) ?? { url, methods: new Set() };
    for (const each of [method].flat()) path.methods.add(each.toUpperCase());
    known.set(samePath(url), path);
  });
  return () => {
    app.register(async (scope) => {
      for (const { url, methods } of known.values()) {
        const wrong = scope.supportedMethods.filter((method) => !methods.has(method)) as HTTPMethods[];
        const allow = [...methods].sort().join(", ");
        scope.route({ method: wrong, url, config: { public: true, allow }, schema: { hide: true }, handler: never });
      }
    });
  };
}

function never(): never {
  throw new Error("the access hook refuses this request before");
}

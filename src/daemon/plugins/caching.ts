import type { App } from "../context/fastify.ts";

/** Cache-Control of every answer that no rule lets be kept. */
export const NO_STORE = "no-store";

/**
 * Cache-Control on every answer: no cache keeps any, since it may hold personal data, codes or secrets, unless its
 * route says in `config.cache` how long it may be kept. Refusals are never kept.
 */
export function registerCaching(app: App): void {
  app.addHook("onSend", ({ routeOptions }, reply, payload, done) => {
    const kept = reply.statusCode < 400 ? routeOptions.config?.cache : undefined;
    reply.header("cache-control", kept ?? NO_STORE);
    done(null, payload);
  });
}

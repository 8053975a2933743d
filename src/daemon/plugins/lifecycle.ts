import type { App } from "../context/fastify.ts";

declare module "fastify" {
  interface FastifyInstance {
    lifecycle: {
      /** Set by `drain`: the requests in flight are the last. */
      draining: boolean;
    };
  }
}

/** Whether the daemon is being stopped, and what that means for connections. */
export function registerLifecycle(app: App): void {
  app.decorate("lifecycle", { draining: false });
  // A connection that was in use when the stop began would otherwise stay open for its next request.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (app.lifecycle.draining) reply.header("connection", "close");
    done(null, payload);
  });
}

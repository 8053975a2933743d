import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { describeRoute, documentBase, finishDocument } from "./document.ts";
import type { Components } from "./published.ts";

/** Collects the routes registered after it, and serves what they are at /openapi.json. */
export function registerOpenapi(app: App, context: DaemonContext): void {
  const components: Components = new Map();
  app.register(import("@fastify/swagger"), {
    openapi: documentBase(context),
    stripBasePath: false,
    convertConstToEnum: false,
    transform: ({ url, route }) => ({ url, schema: describeRoute(route, components) }),
    transformObject: (made) => finishDocument("openapiObject" in made ? made.openapiObject : {}, context, components),
  });
  app.register(async (scope) => {
    let text: string | undefined;
    const config = { public: true, cache: "public, max-age=60" };
    scope.get("/openapi.json", { config, schema: { hide: true } }, async (_request, reply) => {
      text ??= JSON.stringify(scope.swagger());
      return reply.type("application/json").send(text);
    });
  });
}

import { Type } from "typebox";
import { Problem } from "../../core/kernel/problem.ts";
import { pathPrefix } from "../context/addresses.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { sampleProblem } from "../openapi/components.ts";
import { isUnchanged } from "../plugins/kept-response.ts";
import type { PagePolicy } from "../plugins/page-headers.ts";
import { errorIndexPage, errorPage, isProblemSlug } from "./errors.ts";
import { guideNames, guidePage } from "./guides.ts";
import { referencePage, referenceScript, startScript } from "./reference.ts";

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

// What the reference needs beyond that: its own scripts, and the API itself to try it out.
const REFERENCE_POLICY: PagePolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", "data:", "blob:"],
  fontSrc: ["'self'", "data:"],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** The pages for people: the API reference at /docs, the guides, and a page for each type of problem. */
export function registerPages(app: App, context: DaemonContext): void {
  const prefix = pathPrefix(context.addresses.publicUrl);
  const base = `${prefix}/docs`;
  const open = () => ({ config: { public: true }, schema: { hide: true } });

  // Who opens the bare address is a person looking around.
  app.get("/", open(), async (_request, reply) => reply.redirect(base));
  const reference = { ...open(), config: { public: true, policy: REFERENCE_POLICY } };
  app.get("/docs", reference, async (_request, reply) => reply.type(HTML).send(referencePage(base)));
  app.get("/docs/start.js", open(), async (_request, reply) =>
    reply.type(SCRIPT).send(startScript(`${prefix}/openapi.json`)),
  );
  const script = { ...open(), config: { public: true, cache: "public, max-age=3600" } };
  app.get("/docs/reference.js", script, async (request, reply) => {
    const { gzipped, etag } = await referenceScript();
    reply.header("etag", etag);
    if (isUnchanged(request, etag)) return reply.code(304).send();
    return reply.type(SCRIPT).header("content-encoding", "gzip").send(gzipped);
  });
  for (const guide of guideNames) {
    app.get(`/docs/${guide}`, open(), async (_request, reply) => reply.type(HTML).send(await guidePage(guide, base)));
  }
  app.get("/docs/errors", open(), async (_request, reply) => reply.type(HTML).send(errorIndexPage(base)));
  const params = Type.Object({ slug: Type.String() });
  app.get("/docs/errors/:slug", { ...open(), schema: { hide: true, params } }, async ({ params: { slug } }, reply) => {
    if (!isProblemSlug(slug)) throw new Problem("not_found", "There is no such type of problem.");
    return reply.type(HTML).send(errorPage(slug, sampleProblem(slug, context), base));
  });
}

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { fastify } from "fastify";
import { Type } from "typebox";
import { escapeHtml } from "../../core/kernel/html.ts";
import { Problem, type ProblemSlug, problems } from "../../core/kernel/problem.ts";
import { pathPrefix } from "../context/addresses.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { sampleProblem } from "../openapi/components.ts";
import { isUnchanged } from "../plugins/kept-response.ts";
import type { PagePolicy } from "../plugins/page-headers.ts";
import { docsNavigation, guideNames, guidePage } from "./guides.ts";
import { page } from "./layout.ts";

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

const slugs = Object.keys(problems) as ProblemSlug[]; // its keys are the slugs

/** Whether `text` names a type of problem. */
function isProblemSlug(text: string): text is ProblemSlug {
  return slugs.some((slug) => slug === text);
}

/** All types of problem, with links to their pages under `base`. */
function errorIndexPage(base: string): string {
  const rows = slugs
    .toSorted((a, b) => problems[a].status - problems[b].status)
    .map((slug) => {
      const { status, title } = problems[slug];
      const link = `<a href="${escapeHtml(`${base}/errors/${slug}`)}"><code>${escapeHtml(slug)}</code></a>`;
      return `<tr><td>${status}</td><td>${link}</td><td>${escapeHtml(title)}</td></tr>`;
    });
  return page(
    "Errors",
    `<h1>Errors</h1>
<p>Every refusal is a problem body (RFC 7807). Its <code>type</code> is the address of one of these pages.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Type</th><th scope="col">Title</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
${docsNavigation(base)}`,
  );
}

/** One type of problem: when it comes, what to do, and what it looks like. */
function errorPage(slug: ProblemSlug, sample: object, base: string): string {
  const { status, title, hint } = problems[slug];
  return page(
    `${title} (${slug})`,
    `<h1>${escapeHtml(title)}</h1>
<p>Type <code>${escapeHtml(slug)}</code>, HTTP status ${status}.</p>
<h2>What to do</h2>
<p>${escapeHtml(hint)}</p>
<h2>What it looks like</h2>
<pre><code>${escapeHtml(JSON.stringify(sample, null, 2))}</code></pre>
<p>Quote the <code>requestId</code> when you ask for help.</p>
${docsNavigation(base)}`,
  );
}

/** A script as it is sent. */
interface Asset {
  gzipped: Buffer;
  etag: string;
}

let loading: Promise<Asset> | undefined;

/** The reference's own script, from the package that we ship. Megabytes: loaded when it is first asked for. */
function referenceScript(): Promise<Asset> {
  loading ??= loadScript();
  return loading;
}

// The package gives its script out by its Fastify plugin only: that is asked once, in process.
async function loadScript(): Promise<Asset> {
  const { default: reference } = await import("@scalar/fastify-api-reference");
  const carrier = fastify();
  carrier.register(reference, { routePrefix: "/reference", configuration: { url: "/openapi.json" } });
  const { rawPayload, statusCode } = await carrier.inject("/reference/js/scalar.js");
  await carrier.close();
  if (statusCode !== 200) throw new Error("the API reference's script is not where its package used to have it");
  const etag = `"${createHash("sha256").update(rawPayload).digest("base64url").slice(0, 22)}"`;
  return { gzipped: await promisify(gzip)(rawPayload), etag };
}

/** The script that starts the reference, with all that would leave this host turned off. */
function startScript(documentAddress: string): string {
  const configuration = {
    url: documentAddress,
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: "",
    hideClientButton: true,
    showDeveloperTools: "never",
    agent: { disabled: true },
    mcp: { disabled: true },
  };
  return `Scalar.createApiReference("#app", ${JSON.stringify(configuration)});\n`;
}

// The reference has a theme of its own, so the links above it are readable on any.
const HEADER_STYLE = "padding: 0.4rem 1rem; font: 15px/1.9 system-ui, sans-serif; background: #fff; color: #222";

/** The page that the API reference is drawn on; `base` is the path of /docs. */
function referencePage(base: string): string {
  const at = escapeHtml(base);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Partner API</title>
<link rel="icon" href="data:,">
</head>
<body>
<header style="${HEADER_STYLE}">${docsNavigation(base)}</header>
<div id="app"></div>
<noscript><p>The reference needs JavaScript. The guides and the errors do not.</p></noscript>
<script src="${at}/reference.js"></script>
<script src="${at}/start.js"></script>
</body>
</html>
`;
}

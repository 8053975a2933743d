import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import cookie from "@fastify/cookie";
import multipart from "@fastify/multipart";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ComponentChildren, Fragment, h } from "preact";
import { renderToString } from "preact-render-to-string";
import { Problem } from "../core/kernel/problem.ts";
import { pathPrefix } from "../daemon/context/addresses.ts";
import type { DaemonContext } from "../daemon/context/context.ts";
import type { App, RoutePlugin } from "../daemon/context/fastify.ts";
import { packageRoot } from "../daemon/pages/package-root.ts";
import { acceptForms, BODY_LIMIT } from "../daemon/plugins/bodies.ts";
import type { PagePolicy } from "../daemon/plugins/page-headers.ts";
import { asProblem, sendRetryAfter } from "../daemon/plugins/refusals.ts";
import { rulesOf } from "../daemon/plugins/route-rules.ts";
import { allPages } from "./all-pages.ts";
import { registerLive } from "./live.ts";
import { type Inside, Page } from "./parts/layout.tsx";
import { stepUp } from "./parts/step-up.tsx";
import { dropCookie, readCookie, setCookie } from "./session/cookies.ts";
import { requireOwnForm } from "./session/csrf.ts";
import { type Identified, identify } from "./session/identify.ts";
import type { PageOf } from "./session/page.ts";
import type { ConsoleVisit, Face, Form, PortalVisit, Shown, SignedInVisit, Visit } from "./session/visit.ts";

const HTML = "text/html; charset=utf-8";

/** The largest file that a form may send, in bytes. */
const FILE_LIMIT = 16 * 1024 * 1024;

/** What the pages load: their own styles, script and images. Nothing inline, nothing from elsewhere, in no frame. */
const POLICY: PagePolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", "data:"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

declare module "fastify" {
  interface FastifyRequest {
    identified: Identified | undefined;
  }
}

/** Portal and console: one scope for each, with its error pages. */
export const webRoutes: RoutePlugin = (app, context) => {
  const assets = loadAssets();
  app.register(cookie);
  acceptForms(app);
  app.register(multipart, {
    attachFieldsToBody: "keyValues",
    limits: { fileSize: FILE_LIMIT, fieldSize: FILE_LIMIT, files: 1, fields: 1_000 },
  });
  app.decorateRequest("identified", undefined);
  for (const face of ["portal", "console"] as const) {
    app.register(async (scope: App) => registerFace(scope, context, { face, assets }), { prefix: `/${face}` });
  }
};

interface FaceOptions {
  face: Face;
  assets: Assets;
}

function registerFace(app: App, context: DaemonContext, { face, assets }: FaceOptions): void {
  const render: Render = (request, reply, shown) => send(request, reply, shown, { face, assets, context });
  app.setErrorHandler((error, request, reply) => showError(error, { request, reply, face, context, render }));
  app.setNotFoundHandler(() => {
    throw new Problem("not_found", "There is no such page.");
  });
  app.addHook("onRequest", async (request, reply) => {
    const needs = request.routeOptions.config?.page;
    if (needs === undefined) return;
    request.identified = await identify(context, { face, request, reply });
    if (request.method !== "POST") return;
    // Before its body is read: what a visitor sends to other pages is not.
    if (needs !== "visitor" && request.identified.signedIn === null) return render(request, reply, { to: "/sign-in" });
    requireBoundedBody(request, needs === "visitor" ? BODY_LIMIT : FILE_LIMIT);
  });
  // Browsers say where a form comes from only where this allows it; other hosts learn nothing.
  app.addHook("onSend", (_request, reply, _payload, done) => {
    reply.header("referrer-policy", "same-origin");
    done();
  });
  registerAssets(app, assets);
  registerLive(
    app,
    context,
    face,
    ({ identified }) => (isReady(identified?.inside ?? null) ? identified?.inside : null) ?? null,
  );
  for (const { page } of allPages.filter((one) => one.face === face))
    registerPage(app, page, { face, context, render });
}

/** Refuses a body that is larger, or that does not say how large it is: browsers say so. */
function requireBoundedBody({ headers }: FastifyRequest, most: number): void {
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) <= most) return;
  throw new Problem(
    "payload_too_large",
    `A form may send at most ${most / 1024 / 1024} MiB, and says how much it sends.`,
  );
}

function registerAssets(app: App, assets: Assets): void {
  const config = { public: true, rateLimit: "exempt", cache: "public, max-age=31536000, immutable" } as const;
  for (const [name, { bytes, type }] of Object.entries(assets.files)) {
    app.get(`/assets/${name}`, { config, schema: { hide: true } }, (_request, reply) => reply.type(type).send(bytes));
  }
}

type Render = (request: FastifyRequest, reply: FastifyReply, shown: Shown) => Promise<FastifyReply>;

interface Registering {
  face: Face;
  context: DaemonContext;
  render: Render;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a page of portal or console needs; set by `registerPage` alone. */
    page?: PageOf<never>["needs"];
  }
}

function registerPage(app: App, page: PageOf<never>, { face, context, render }: Registering): void {
  // A page that says nothing of who may see it does not start.
  if (page.needs === undefined) throw new Error(`the page ${face}${page.path} declares no permission`);
  const config = { public: true, rateLimit: "exempt", page: page.needs } as const;
  const options = { config, schema: { hide: true }, ...(page.secret ? { compress: false as const } : {}) };
  const { show, act, again = show } = page;
  // With and without a slash at the end.
  const path = page.path === "" ? "/" : page.path;
  if (show !== undefined) {
    app.get(path, options, async (request, reply) => {
      const entered = enter(request, page);
      return render(request, reply, "shown" in entered ? entered.shown : await show(entered.visit as never));
    });
  }
  if (act === undefined) return;
  app.post(path, { ...options, bodyLimit: FILE_LIMIT }, async (request, reply) => {
    const entered = enter(request, page);
    if ("shown" in entered) return render(request, reply, entered.shown);
    const form = (request.body ?? {}) as Form; // formbody and multipart make plain objects
    const visit = { ...entered.visit, form };
    requireOwnForm(request, form, entered.secret, context.addresses.publicUrl);
    const asked = page.stepUp === true && isSignedIn(visit) ? await stepUp(visit) : null;
    if (asked !== null) return render(request, reply, asked);
    const done = attempt(visit, act as Acts, again as Acts | undefined);
    return render(request, reply, await done.catch((error: unknown) => refusalShown(error, { request, reply })));
  });
}

function isSignedIn(visit: Visit): visit is SignedInVisit {
  return "session" in visit;
}

type Acts = (visit: Visit) => Promise<Shown> | Shown;

/** Does what a form asks for; a refusal shows the form again, with what is wrong. */
async function attempt(visit: Visit, act: Acts, again: Acts | undefined): Promise<Shown> {
  try {
    return await act(visit);
  } catch (error) {
    if (!(error instanceof Problem) || again === undefined || error.status === 404) throw error;
    visit.reply.refusal = error.slug;
    sendRetryAfter(error, visit.reply);
    const shown = await again({ ...visit, problem: error });
    if (!("title" in shown)) return shown;
    // What is wrong is said above the fields, by the labels that they have once they were drawn.
    renderToString(h(Fragment, null, shown.body));
    return { ...shown, status: error.status };
  }
}

/** The one place that decides who sees which page. Throws `forbidden`. */
function enter(request: FastifyRequest, page: PageOf<never>): { visit: Visit; secret: string } | { shown: Shown } {
  const { identified } = request;
  if (identified === undefined) throw new Error("the visitor of this page was not identified");
  const { visit, signedIn, inside, secret } = identified;
  const { needs } = page;
  if (needs === "visitor") return { visit, secret };
  if (signedIn === null) return { shown: { to: `/sign-in${nextOf(request, visit)}` } };
  if (needs === "session") return { visit: signedIn, secret };
  const { factor, session } = signedIn;
  if (factor.has && session.factor_at === null) return { shown: { to: "/sign-in/factor" } };
  if (factor.must && !factor.has) return { shown: { to: "/account/factors" } };
  if (needs === "account") return { visit: inside ?? signedIn, secret };
  // The pages of a face name permissions of that face alone.
  if (inside === null || !(inside as { may(permission: unknown): boolean }).may(needs)) {
    throw new Problem("forbidden", "Your role does not allow this page.");
  }
  return { visit: inside, secret };
}

/** Where to go on after the sign-in: a page of the same face that was asked for. */
function nextOf(request: FastifyRequest, { base }: Visit): string {
  const [path = ""] = request.url.split("?", 1);
  if (request.method !== "GET" || path.replace(/\/$/, "") === `/${base.split("/").at(-1)}`) return "";
  return `?next=${encodeURIComponent(request.url.slice(request.url.indexOf("/", 1)))}`;
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  shown: Shown,
  { face, assets, context }: FaceOptions & { context: DaemonContext },
): Promise<FastifyReply> {
  const progress = request.identified?.visit.progress;
  if ("to" in shown) {
    const { notice = null } = shown;
    const to = `${pathPrefix(context.addresses.publicUrl)}/${shown.face ?? face}${shown.to}`;
    if (progress?.end(() => ({ to, notice }))) return reply;
    if (notice !== null) setCookie(reply, "notice", notice);
    return reply.redirect(to, 303);
  }
  if ("file" in shown) {
    if (shown.name !== undefined) reply.header("content-disposition", `attachment; filename="${shown.name}"`);
    const { file } = shown;
    return reply.type(shown.type).send(isWhole(file) ? file : Readable.from(file));
  }
  const notice = readCookie(request, "notice");
  if (notice !== null) dropCookie(reply, "notice");
  const { visit, inside } = request.identified ?? { visit: null, inside: null };
  const on = visit ?? (await identify(context, { face, request, reply })).visit;
  const html = document({ ...on, notice }, isReady(inside) ? inside : null, { ...shown, version: assets.version });
  if (progress?.end(() => ({ html }))) return reply;
  reply.header("x-robots-tag", "noindex");
  // Not by the route: a page that is not found has none.
  request.rules = { ...rulesOf(request), policy: POLICY };
  // As bytes: a text would be gone through once for its length, and again as it is sent.
  return reply
    .code(shown.status ?? 200)
    .type(HTML)
    .send(Buffer.from(html));
}

function isWhole(file: string | Buffer | AsyncIterable<string | Uint8Array>): file is string | Buffer {
  return typeof file === "string" || Buffer.isBuffer(file);
}

/** Whether the menu is shown: not to a person whose second factor is still missing. */
function isReady(inside: Inside): boolean {
  if (inside === null) return false;
  const { factor, session } = inside;
  return factor.has ? session.factor_at !== null : !factor.must;
}

function document(
  visit: Visit,
  inside: PortalVisit | ConsoleVisit | null,
  { title, body, version }: { title: string; body: ComponentChildren; version: string },
): string {
  return `<!doctype html>${renderToString(h(Page, { visit, inside, title, version, children: body }))}`;
}

interface Failing extends Registering {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** A refusal in words; an error that is none is logged, and shows nothing of itself. */
async function showError(error: unknown, { request, reply, render }: Failing): Promise<FastifyReply> {
  return render(request, reply, refusalShown(error, { request, reply }));
}

function refusalShown(error: unknown, { request, reply }: Pick<Failing, "request" | "reply">): Shown {
  const refusal = asProblem(error, request);
  if (refusal === undefined) request.log.error({ err: error }, "request failed");
  const problem = refusal ?? new Problem("internal", "Something went wrong on our side.");
  reply.refusal = problem.slug;
  sendRetryAfter(problem, reply);
  const title = problem.status === 404 ? "Not found" : problem.title;
  const body = (
    <>
      <h1>{title}</h1>
      <p>{problem.message}</p>
      <p class="hint">
        Request <code>{request.id}</code>
      </p>
    </>
  );
  return { title, body, status: problem.status };
}

/** What the pages load, as the build has put it beside the program. */
interface Assets {
  files: Readonly<Record<string, { bytes: Buffer; type: string }>>;
  /** Another one for other contents: addresses with it may be kept for good. */
  version: string;
}

const assetTypes = {
  "style.css": "text/css; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/** Reads the assets from `dist/web`. */
function loadAssets(): Assets {
  const folder = join(packageRoot(), "dist", "web");
  const files = Object.fromEntries(
    Object.entries(assetTypes).map(([name, type]) => [name, { bytes: readFileSync(join(folder, name)), type }]),
  );
  const digest = createHash("sha256");
  for (const { bytes } of Object.values(files)) digest.update(bytes);
  return { files, version: digest.digest("base64url").slice(0, 12) };
}

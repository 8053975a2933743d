import type { IncomingMessage, ServerResponse } from "node:http";
import helmet, { type HelmetOptions } from "helmet";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { rulesOf } from "./route-rules.ts";
import { type Headers, securityHeaders } from "./security-headers.ts";

/** What a page may load, by CSP directive. */
export type PagePolicy = Readonly<Record<string, readonly string[]>>;

/** What a page of this daemon loads: its own styles and images. */
function usualPolicy({ addresses }: DaemonContext): PagePolicy {
  return {
    defaultSrc: ["'none'"],
    styleSrc: ["'unsafe-inline'"],
    imgSrc: ["'self'", "data:", new URL(addresses.publicUrl).origin],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  };
}

/** The headers of a page under this policy: helmet writes the same on every response, so it writes them once. */
function pageHeaders(directives: PagePolicy): Headers {
  const headers: Record<string, string> = {};
  const options: HelmetOptions = {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: Object.fromEntries(Object.entries(directives).map(([name, values]) => [name, [...values]])),
    },
    referrerPolicy: { policy: "no-referrer" },
    // Partners' mails and shops show QR codes.
    crossOriginResourcePolicy: { policy: "cross-origin" },
    strictTransportSecurity: false,
    xContentTypeOptions: false,
  };
  const response = {
    setHeader(name: string, value: string) {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => undefined,
  };
  // Helmet uses no more than this of a request and a response.
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return headers;
}

/**
 * Security headers. A page may show its own styles and images of this daemon, and nothing else: no scripts, no frames,
 * nothing from another host; a route that needs more says so in `config.policy`. Other responses carry only what keeps
 * a browser from rendering them.
 */
export function registerSecurityHeaders(app: App, context: DaemonContext): void {
  const always = Object.entries(securityHeaders(context));
  const usual = pageHeaders(usualPolicy(context));
  const own = new WeakMap<PagePolicy, Headers>();

  function headersOf(policy: PagePolicy | undefined): Headers {
    if (policy === undefined) return usual;
    const known = own.get(policy) ?? pageHeaders(policy);
    own.set(policy, known);
    return known;
  }

  // When it is sent: what an earlier hook refuses gets to no later hook of onRequest.
  app.addHook("onSend", (request, reply, _payload, done) => {
    for (const [name, value] of always) reply.header(name, value);
    if (isRendered(reply.getHeader("content-type"))) reply.headers(headersOf(rulesOf(request).policy));
    done();
  });
}

/** Whether a browser renders it with scripts and styles of its own. */
function isRendered(type: unknown): boolean {
  return typeof type === "string" && (type.startsWith("text/html") || type.startsWith("image/svg"));
}

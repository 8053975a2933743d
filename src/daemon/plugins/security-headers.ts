import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";

/** The security headers of every response, also of those that no hook sees; HSTS where the public address is https. */
export function securityHeaders({ addresses }: Pick<DaemonContext, "addresses">): Readonly<Record<string, string>> {
  const secure = addresses.publicUrl.startsWith("https:");
  return {
    "x-content-type-options": "nosniff",
    ...(secure ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}

/**
 * Security headers. A page may show its own styles and images of this daemon, and nothing else: no scripts, no frames,
 * nothing from another host; a route that needs more says so in its `helmet`. Other responses carry only what keeps a
 * browser from rendering them: computing a page's policy for each would cost more than routing it.
 */
export function registerSecurityHeaders(app: App, { addresses }: DaemonContext): void {
  const always = securityHeaders({ addresses });
  app.register(import("@fastify/helmet"), {
    global: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'unsafe-inline'"],
        imgSrc: ["'self'", "data:", new URL(addresses.publicUrl).origin],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: "no-referrer" },
    // Partners' mails and shops show QR codes.
    crossOriginResourcePolicy: { policy: "cross-origin" },
    strictTransportSecurity: false,
    xContentTypeOptions: false,
  });
  // When it is sent: what an earlier hook refuses gets to no later hook of onRequest.
  app.addHook("onSend", (_request, reply, payload, done) => {
    reply.headers(always);
    if (RENDERED.test(String(reply.getHeader("content-type"))) && !reply.raw.hasHeader("content-security-policy")) {
      reply.helmet();
    }
    done(null, payload);
  });
}

// What a browser renders with scripts and styles of its own.
const RENDERED = /^(text\/html|image\/svg)/;

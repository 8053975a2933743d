import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";

/**
 * Security headers. A page may show its own styles and images of this daemon, and nothing else: no scripts, no frames,
 * nothing from another host; a route that needs more says so in its `helmet`. Other responses carry only what keeps a
 * browser from rendering them: computing a page's policy for each would cost more than routing it.
 */
export function registerSecurityHeaders(app: App, { addresses }: DaemonContext): void {
  const secure = addresses.publicUrl.startsWith("https:");
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("x-content-type-options", "nosniff");
    if (secure) reply.header("strict-transport-security", "max-age=31536000");
    done();
  });
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
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (RENDERED.test(String(reply.getHeader("content-type"))) && !reply.raw.hasHeader("content-security-policy")) {
      reply.helmet();
    }
    done(null, payload);
  });
}

// What a browser renders with scripts and styles of its own.
const RENDERED = /^(text\/html|image\/svg)/;

import { createHash, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { Problem } from "../../core/kernel/problem.ts";
import { callbackPath, supplierContact } from "../../core/suppliers/supplier.ts";
import { noticeEsims } from "../../core/supply/looks.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { createProviders } from "../gateways/suppliers/providers.ts";
import { unknownPath } from "../plugins/problems.ts";

/** A notice names one eSIM: none is longer than a few KiB. */
const MOST_BYTES = 256 * 1024;

const PATH = "/callbacks/suppliers/:name/:secret";
const Params = Type.Object({ name: Type.String(), secret: Type.String() });
const Taken = Type.Object({ ok: Type.Boolean({ examples: [true] }) });

/**
 * Notices of providers (docs/suppliers.md). Each comes to a path that only that provider knows. Nothing in one is
 * believed: the eSIMs that it names are looked up.
 */
export const supplierNoticeRoutes: RoutePlugin = (app, { store, clock }) => {
  const providers = createProviders({ store, now: clock.now });
  app.addHook("onClose", () => providers.close());
  readBytes(app);
  // Before the body is read. Who does not know the path learns nothing, as at any other unknown path.
  app.addHook("onRequest", async (request) => {
    // The path of both routes has these; its schema is checked later.
    const { name, secret } = request.params as Type.Static<typeof Params>;
    const expected = await store.read(callbackPath, name);
    if (!isSame(secret, expected?.reveal() ?? "") || expected === null) throw unknownPath(request);
  });

  app.route({
    method: "HEAD",
    url: PATH,
    config: { public: true },
    schema: {
      hide: true,
      description: "Whether the address works, which a provider asks before it calls back.",
      params: Params,
    },
    handler: (_request, reply) => reply.code(200).send(),
  });

  app.route({
    method: "POST",
    url: PATH,
    config: { public: true, problems: ["not_found", "unauthorized"] },
    schema: {
      hide: true,
      description: "A provider's notice about an eSIM, which is looked up then.",
      params: Params,
      response: { 200: Taken },
    },
    async handler(request) {
      const { name: supplier } = request.params;
      const contact = await store.read(supplierContact, supplier);
      const provider = contact === null ? null : providers.of(contact);
      // One that cannot be asked anything has nothing to look up either.
      const { headers, body, ip: address } = request;
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      const read = provider?.readNotice({ headers, body: bytes, address }) ?? { esims: [] };
      if ("refused" in read) {
        request.log.warn({ event: "notice_refused", supplier, reason: read.refused }, "a notice was refused");
        throw new Problem("unauthorized", "This is not how the supplier sends notices.");
      }
      const { esims } = read;
      if (esims.length > 0) await store.write(noticeEsims, { supplier, esims }, request.id);
      return { ok: true };
    },
  });
};

/** Signatures are over the bytes as they came, whatever their media type. */
function readBytes(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: MOST_BYTES }, (_request, body, done) => {
    done(null, body);
  });
}

/** Compares in the same time, however much of it is right. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import QRCode from "qrcode";
import { Type } from "typebox";
import { activationCode } from "../../core/esims/activation-code.ts";
import { type EsimRow, visibleEsim } from "../../core/esims/esim.ts";
import { esimOfToken } from "../../core/esims/links.ts";
import { notFound, Problem } from "../../core/kernel/problem.ts";
import { partnerById } from "../../core/partners/partner.ts";
import { findByKey } from "../../core/store/rows.ts";
import type { Read } from "../../core/store/store.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { installPage, wrongLinkPage } from "../pages/install.ts";
import { chooseLanguage } from "../pages/install-words.ts";
import { Picture } from "../schemas/common.ts";

const Token = Type.String({ minLength: 1, maxLength: 100, description: "The unguessable part of the address" });

/** What a traveler opens without any token of the API: the QR code of an eSIM and its install page. */
export const qrRoutes: RoutePlugin = (app, context) => {
  imageRoute(app, context, "png", "image/png", "getQrPng");
  imageRoute(app, context, "svg", "image/svg+xml", "getQrSvg");

  app.route({
    method: "GET",
    url: "/install/:token",
    config: { public: true, problems: ["not_found"] },
    schema: {
      operationId: "getInstallPage",
      tags: ["Travelers"],
      summary: "Page to install an eSIM from",
      produces: ["text/html"],
      description:
        "One tap on a phone, a QR code for another screen, codes by hand. The language follows " + "Accept-Language.",
      params: Type.Object({ token: Token }),
      response: { 200: Type.String({ description: "A page for people" }) },
    },
    async handler(request, reply) {
      const { token } = request.params;
      const language = chooseLanguage(request.headers["accept-language"]);
      const visible = await visibleAt(context, token).catch((error: unknown) => wrongLink(request, reply, error));
      if (visible === null) return reply;
      const { esim, line, codes } = visible;
      const { iccid, status } = esim;
      // Beside this page, whatever the address it was opened by.
      const qr = `../qr/${token}.svg`;
      const test = esim.environment === "sandbox";
      hide(reply);
      reply.header("content-language", language).header("vary", "accept-language, accept-encoding");
      const sold = { productName: line.product_name, ...(await context.store.read(factsOf, esim)) };
      const html = installPage({ ...codes, ...sold, iccid, status, test, qr, code: activationCode(codes) }, language);
      return reply.type("text/html; charset=utf-8").send(html);
    },
  });
};

function imageRoute(app: App, context: DaemonContext, ending: "png" | "svg", type: string, operationId: string): void {
  app.route({
    method: "GET",
    url: `/qr/:token.${ending}`,
    config: { public: true, problems: ["not_found"] },
    schema: {
      operationId,
      tags: ["Travelers"],
      summary: `QR code of an eSIM as ${ending.toUpperCase()}`,
      description:
        "Needs no token: the address is unguessable. 404 until the order is fulfilled, and " +
        "where the codes of the eSIM cannot be read.",
      produces: [type],
      params: Type.Object({ token: Token }),
      response: { 200: Picture },
    },
    async handler(request, reply) {
      const { token } = request.params;
      const visible = await visibleAt(context, token).catch((error: unknown) => wrongLink(request, reply, error));
      if (visible === null) return reply;
      const code = activationCode(visible.codes);
      const options = { errorCorrectionLevel: "M", margin: 4 } as const;
      const image =
        ending === "png"
          ? await QRCode.toBuffer(code, { ...options, width: 480 })
          : await QRCode.toString(code, { ...options, type: "svg" });
      hide(reply);
      return reply.type(type).send(image);
    },
  });
}

/**
 * Answers a browser, which a person looks at, a page in words; null: it was sent. Throws the error again for programs,
 * and where it says anything else.
 */
function wrongLink(request: FastifyRequest, reply: FastifyReply, error: unknown): null {
  const isPerson = new Negotiator(request).mediaTypes().includes("text/html");
  if (!(error instanceof Problem) || error.slug !== "not_found" || !isPerson) throw error;
  const language = chooseLanguage(request.headers["accept-language"]);
  reply.refusal = error.slug;
  hide(reply);
  reply.header("content-language", language).header("vary", "accept, accept-language, accept-encoding");
  void reply.code(404).type("text/html; charset=utf-8").send(wrongLinkPage(language));
  return null;
}

/** The seller, and the plan as the catalog has it now; null: it is not there any more. */
async function factsOf(q: Read, { partner_id, product_id }: Pick<EsimRow, "partner_id" | "product_id">) {
  const seller = partner_id === null ? null : await partnerById(q, partner_id);
  const row = await findByKey(q, "products", { id: product_id });
  const plan = row && { dataMb: row.data_amount_mb, days: row.validity_days, coverage: row.coverage };
  return { seller: seller?.name ?? null, support: seller?.support ?? null, plan };
}

/** Search engines must not keep what anyone with the address may see. */
function hide(reply: FastifyReply): void {
  reply.header("x-robots-tag", "noindex");
}

/** The eSIM behind an address, once its code may be seen. Throws `not_found`, also where its codes cannot be read. */
async function visibleAt({ store }: DaemonContext, token: string) {
  // The key of the links may have been rotated since by another process.
  await store.epoch();
  const visible = await store.read(visibleEsim, esimOfToken(store.vault, token));
  if (visible === null) throw notFound("qr_code");
  const { codes } = visible;
  // No 503: that would say that waiting helps, and take this node out of a load balancer for the sake of one eSIM.
  if (codes === null) throw new Problem("not_found", "The codes of this eSIM cannot be read. Contact its seller.");
  return { ...visible, codes };
}

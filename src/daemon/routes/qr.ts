import type { FastifyReply } from "fastify";
import QRCode from "qrcode";
import { Type } from "typebox";
import { activationCode } from "../../core/esims/activation-code.ts";
import { visibleEsim } from "../../core/esims/esim.ts";
import { esimOfToken } from "../../core/esims/links.ts";
import { notFound, Problem } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { installPage } from "../pages/install.ts";
import { chooseLanguage } from "../pages/install-words.ts";
import { Picture } from "../schemas/common.ts";

const Token = Type.String({ minLength: 1, maxLength: 100, description: "The unguessable part of the address" });

/** What a traveller opens without any token of the API: the QR code of an eSIM and its install page. */
export const qrRoutes: RoutePlugin = (app, context) => {
  imageRoute(app, context, "png", "image/png", "getQrPng");
  imageRoute(app, context, "svg", "image/svg+xml", "getQrSvg");

  app.route({
    method: "GET",
    url: "/install/:token",
    config: { public: true, problems: ["not_found"] },
    schema: {
      operationId: "getInstallPage",
      tags: ["Travellers"],
      summary: "Page to install an eSIM from",
      produces: ["text/html"],
      description:
        "One tap on a phone, a QR code for another screen, codes by hand. The language follows " + "Accept-Language.",
      params: Type.Object({ token: Token }),
      response: { 200: Type.String({ description: "A page for people" }) },
    },
    async handler(request, reply) {
      const { token } = request.params;
      const { esim, line, codes } = await visibleAt(context, token);
      const { iccid, status } = esim;
      const language = chooseLanguage(request.headers["accept-language"]);
      // Beside this page, whatever the address it was opened by.
      const qr = `../qr/${token}.svg`;
      const test = esim.environment === "sandbox";
      hide(reply);
      reply.header("content-language", language).header("vary", "accept-language, accept-encoding");
      const html = installPage(
        { ...codes, productName: line.product_name, iccid, status, test, qr, code: activationCode(codes) },
        language,
      );
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
      tags: ["Travellers"],
      summary: `QR code of an eSIM as ${ending.toUpperCase()}`,
      description:
        "Needs no token: the address is unguessable. 404 until the order is fulfilled, and " +
        "where the codes of the eSIM cannot be read.",
      produces: [type],
      params: Type.Object({ token: Token }),
      response: { 200: Picture },
    },
    async handler(request, reply) {
      const code = activationCode((await visibleAt(context, request.params.token)).codes);
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

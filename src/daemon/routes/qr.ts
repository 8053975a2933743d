import type { FastifyReply } from "fastify";
import QRCode from "qrcode";
import { Type } from "typebox";
import { activationCode, soldEsim } from "../../core/esims/esim.ts";
import { esimLinks, esimOfToken } from "../../core/esims/links.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context.ts";
import type { App, RoutePlugin } from "../http.ts";
import { installPage } from "../pages/install.ts";

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
      params: Type.Object({ token: Token }),
      response: { 200: Type.String({ description: "A page for people", contentMediaType: "text/html" }) },
    },
    async handler(request, reply) {
      const { esim, productName } = await visibleEsim(context, request.params.token);
      const { qr_code_url } = esimLinks(context.store.vault, context.addresses.publicUrl, esim.id);
      const svg = qr_code_url.replace(/\.png$/, ".svg");
      const { smdp_address, matching_id, confirmation_code } = esim;
      const page = { productName, code: activationCode(esim), qr: svg, smdp_address, matching_id, confirmation_code };
      keepPrivate(reply);
      return reply.type("text/html; charset=utf-8").send(installPage(page));
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
      params: Type.Object({ token: Token }),
    },
    async handler(request, reply) {
      const { esim } = await visibleEsim(context, request.params.token);
      const code = activationCode(esim);
      const options = { errorCorrectionLevel: "M", margin: 4 } as const;
      const image =
        ending === "png"
          ? await QRCode.toBuffer(code, { ...options, width: 480 })
          : await QRCode.toString(code, { ...options, type: "svg" });
      keepPrivate(reply);
      return reply.type(type).send(image);
    },
  });
}

/** Whoever has the address may see it; caches and search engines between should not keep it. */
function keepPrivate(reply: FastifyReply): void {
  reply.header("cache-control", "private, max-age=300").header("x-robots-tag", "noindex");
}

/** The eSIM behind an address, once its code may be seen. Throws `not_found`. */
async function visibleEsim({ store }: DaemonContext, token: string) {
  const sold = await store.read(soldEsim, esimOfToken(store.vault, token));
  if (sold === null || sold.line.status !== "fulfilled") throw new Problem("not_found", "No such QR code.");
  return { esim: sold.esim, productName: sold.line.product_name };
}

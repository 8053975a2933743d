import { createHash } from "node:crypto";
import { Type } from "typebox";
import { dataWords, dayWords } from "../../core/catalog/data-words.ts";
import { type Product, showProduct } from "../../core/catalog/product.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { escapeHtml } from "../../core/kernel/html.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { isUnchanged } from "../plugins/kept-response.ts";
import { NotModified, Picture, UuidOf } from "../schemas/common.ts";

/** The pictures that shops load by the addresses of the catalog export. */
export const mediaRoutes: RoutePlugin = (app, context) => {
  pictureRoute(app, context, { ending: "svg", type: "image/svg+xml", operationId: "getProductPicture" });
  pictureRoute(app, context, { ending: "png", type: "image/png", operationId: "getProductPicturePng" });
};

interface PictureForm {
  ending: "svg" | "png";
  type: string;
  operationId: string;
}

function pictureRoute(app: App, { store }: DaemonContext, { ending, type, operationId }: PictureForm): void {
  app.route({
    method: "GET",
    url: `/media/products/:id.${ending}`,
    config: { public: true, cache: "public, max-age=86400", problems: ["not_found"] },
    schema: {
      operationId,
      tags: ["Catalog"],
      summary: `Picture of a product as ${ending.toUpperCase()}`,
      description: "Drawn by the server, 800 by 800. The catalog export links to it.",
      produces: [type],
      params: Type.Object({ id: UuidOf<"product">("The product") }),
      response: { 200: Picture, 304: NotModified },
    },
    async handler(request, reply) {
      // Whatever its status: a shop may still show what can no longer be ordered.
      const svg = productPicture(await store.read(showProduct, request.params.id));
      const etag = `"${createHash("sha256").update(ending).update(svg).digest("base64url").slice(0, 22)}"`;
      reply.header("etag", etag);
      if (isUnchanged(request, etag)) return reply.code(304).send(null);
      return reply.type(type).send(ending === "svg" ? svg : await drawn(svg));
    },
  });
}

async function drawn(svg: string): Promise<Buffer> {
  const { rasterize } = await import("../pages/rasterize.ts");
  return rasterize(svg);
}

const SIZE = 800;
const MARGIN = 72;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** The picture of a product: region, data, validity, coverage, in colors of its region. Same product, same bytes. */
function productPicture(product: Product): string {
  const [from, to] = colorsOf(product.region);
  const countries = product.coverage.length;
  const foot = `${dayWords(product.validity_days)} · ${countries === 1 ? "1 country" : `${countries} countries`}`;
  const box = `viewBox="0 0 ${SIZE} ${SIZE}" width="${SIZE}" height="${SIZE}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img">
<title>${escapeHtml(withoutHidden(product.name))}</title>
<defs>
<linearGradient id="g" x1="0" y1="0" x2="1" y2="1">
<stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/>
</linearGradient>
</defs>
<rect width="${SIZE}" height="${SIZE}" fill="url(#g)"/>
${WAVES}
${chip(from)}
<g fill="#fff" font-family="${FONT}">
${line(withoutHidden(product.region), 370, 76, 700)}
${line(dataWords(product.data_amount_mb), 530, 140, 800)}
${line(product.type === "voice_data" ? "Data and calls" : "Data", 600, 40, 400)}
${line(foot, 716, 44, 600)}
</g>
</svg>
`;
}

const WAVES = `<g fill="none" stroke="#fff" stroke-opacity=".16" stroke-width="3">
<circle cx="640" cy="180" r="120"/><circle cx="640" cy="180" r="210"/><circle cx="640" cy="180" r="310"/>
</g>`;

/** A SIM card with its contacts in `color`. */
function chip(color: string): string {
  const card = "M0 14A14 14 0 0 1 14 0H66L92 26V106A14 14 0 0 1 78 120H14A14 14 0 0 1 0 106Z";
  return `<g transform="translate(${MARGIN} 84)">
<path d="${card}" fill="#fff" fill-opacity=".92"/>
<rect x="20" y="48" width="52" height="48" rx="8" fill="${color}"/>
<path d="M20 72H72M46 48V96" stroke="#fff" stroke-width="4"/>
</g>`;
}

/** One line of text, set smaller where it would not fit, and cut where even that is too wide. */
function line(text: string, y: number, size: number, weight: number): string {
  const room = SIZE - 2 * MARGIN;
  const smallest = Math.min(size, 34);
  const characters = [...text];
  // Sans-serif letters are a good half as wide as high, East Asian ones as wide.
  const width = characters.reduce((sum, character) => sum + ((character.codePointAt(0) ?? 0) > 0x2e7f ? 1 : 0.58), 0);
  const fitting = Math.min(size, Math.floor(room / Math.max(width, 1)));
  const fontSize = Math.max(fitting, smallest);
  const most = Math.floor((characters.length * room) / (width * fontSize || 1));
  const shown = characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
  return `<text x="${MARGIN}" y="${y}" font-size="${fontSize}" font-weight="${weight}">${escapeHtml(shown)}</text>`;
}

/** Two related colors with enough contrast to white text, the same ones for the same region. */
function colorsOf(region: string): [string, string] {
  const hue = createHash("sha256").update(region).digest().readUInt16BE() % 360;
  return [`hsl(${hue}, 62%, 30%)`, `hsl(${(hue + 45) % 360}, 58%, 38%)`];
}

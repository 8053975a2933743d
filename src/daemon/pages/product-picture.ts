import { createHash } from "node:crypto";
import { dataWords, dayWords } from "../../core/catalog/data-words.ts";
import type { Product } from "../../core/catalog/product.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { escapeHtml } from "../../core/kernel/html.ts";

const SIZE = 800;
const MARGIN = 72;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** The picture of a product: region, data, validity, coverage, in colors of its region. Same product, same bytes. */
export function productPicture(product: Product): string {
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

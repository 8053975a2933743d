import qrcode from "qrcode";
import type { Sheet } from "./sheet.ts";

/** A QR code of half blocks with its quiet zone, in the two forms that screens need. */
export interface DrawnQr {
  /** Dark modules are blocks: to be painted black on white. */
  blocks: string;
  /** Light modules are blocks: right on a dark screen, where no colors can be used. */
  bare: string;
}

/** Draws `text`. */
export async function drawQr(text: string): Promise<DrawnQr> {
  const common = { type: "utf8", errorCorrectionLevel: "M" } as const;
  const inverted = { dark: "#ffffff", light: "#000000" };
  const [blocks, bare] = await Promise.all([
    qrcode.toString(text, common),
    qrcode.toString(text, { ...common, color: inverted }),
  ]);
  return { blocks, bare };
}

/** The code as this sheet can show it. */
export function showQr({ paint }: Sheet, { blocks, bare }: DrawnQr): string {
  if (paint.level === 0) return bare;
  const lines = blocks.split("\n").filter((line) => line !== "");
  return lines.map((line) => paint.black.bgWhiteBright(line)).join("\n");
}

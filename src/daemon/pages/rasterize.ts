import { LRUCache } from "lru-cache";
import { jobThread } from "../../core/kernel/job-thread.ts";
import { ENTRY_BYTES } from "../../core/kernel/own-bytes.ts";

/** Bytes of pictures that are kept: about 250 of them. */
const MOST_BYTES = 32 * 1024 * 1024;

const kept = new LRUCache<string, Buffer>({ maxSize: MOST_BYTES, sizeCalculation: sizeOf });
/** Bytes of memory that a kept picture takes. */
function sizeOf(png: Buffer, svg: string): number {
  return png.length + 2 * svg.length + ENTRY_BYTES;
}

const underway = new Map<string, Promise<Buffer>>();

/**
 * The PNG of an SVG that this program made, drawn by a thread with fonts of its own. The same text is drawn once: later
 * requests get the kept bytes, concurrent ones share the drawing. Throws when it cannot be drawn.
 */
export function rasterize(svg: string): Promise<Buffer> {
  const known = kept.get(svg);
  if (known !== undefined) return Promise.resolve(known);
  const shared = underway.get(svg);
  if (shared !== undefined) return shared;
  const drawing = draw(svg)
    .then((png) => {
      kept.set(svg, png);
      return png;
    })
    .finally(() => underway.delete(svg));
  underway.set(svg, drawing);
  return drawing;
}

const thread = jobThread<string, Uint8Array>(import.meta.url, "raster");

async function draw(svg: string): Promise<Buffer> {
  const png = await thread.run(svg).catch((error: unknown) => {
    throw new Error("The picture could not be drawn.", { cause: error });
  });
  // Its memory is its own: the thread sent a copy.
  return Buffer.from(png.buffer, png.byteOffset, png.byteLength);
}

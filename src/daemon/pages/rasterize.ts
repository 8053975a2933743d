import { Worker } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import { ENTRY_BYTES } from "../../core/kernel/own-bytes.ts";
import { threadFile } from "../../core/kernel/thread-file.ts";
import type { RasterJob, RasterResult } from "./raster-thread.ts";

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

interface Thread {
  worker: Worker;
  waiting: Map<number, PromiseWithResolvers<Buffer>>;
}

let thread: Thread | null = null;
let jobs = 0;

function draw(svg: string): Promise<Buffer> {
  thread ??= startThread();
  const job: RasterJob = { id: jobs++, svg };
  const result = Promise.withResolvers<Buffer>();
  thread.waiting.set(job.id, result);
  thread.worker.postMessage(job);
  return result.promise;
}

/** Started with the first picture; it does not keep the process running. */
function startThread(): Thread {
  const worker = new Worker(threadFile(import.meta.url, "raster"));
  const started: Thread = { worker, waiting: new Map() };
  const end = (error: Error) => {
    if (thread === started) thread = null;
    for (const { reject } of started.waiting.values()) reject(error);
    started.waiting.clear();
  };
  worker.on("message", (result: RasterResult) => {
    const asked = started.waiting.get(result.id);
    started.waiting.delete(result.id);
    if ("png" in result) {
      // Its memory is its own: the thread sent a copy.
      asked?.resolve(Buffer.from(result.png.buffer, result.png.byteOffset, result.png.byteLength));
    } else asked?.reject(new Error(`The picture could not be drawn: ${result.error}`));
  });
  worker.on("error", end);
  worker.on("exit", (code) => end(new Error(`The thread that draws pictures ended with ${code}.`)));
  worker.unref();
  return started;
}

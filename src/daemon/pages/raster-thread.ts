import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parentPort } from "node:worker_threads";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

/** A picture to draw, and its answer: the bytes, or why there are none. */
export interface RasterJob {
  id: number;
  svg: string;
}
export type RasterResult = { id: number; png: Uint8Array } | { id: number; error: string };

const read = (url: string) => readFile(fileURLToPath(url));

const [wasm, ...fontBuffers] = await Promise.all([
  read(import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm")),
  read(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf")),
  read(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf")),
]);
await initWasm(wasm);

parentPort?.on("message", ({ id, svg }: RasterJob) => {
  try {
    const renderer = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: "DejaVu Sans" } });
    const png = renderer.render().asPng();
    renderer.free();
    answer({ id, png });
  } catch (error) {
    answer({ id, error: String(error) });
  }
});

function answer(result: RasterResult): void {
  parentPort?.postMessage(result);
}

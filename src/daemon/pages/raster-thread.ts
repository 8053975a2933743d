import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { answerJobs } from "../../core/kernel/answer-jobs.ts";

const read = (url: string) => readFile(fileURLToPath(url));

const [wasm, ...fontBuffers] = await Promise.all([
  read(import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm")),
  read(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf")),
  read(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf")),
]);
await initWasm(wasm);

answerJobs((svg: string): Uint8Array => {
  const renderer = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: "DejaVu Sans" } });
  const png = renderer.render().asPng();
  renderer.free();
  return png;
});

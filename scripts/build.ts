/** Bundles the terminal (and with it the daemon) into dist/, split so that a short command loads little. */
import { readFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));

rmSync("dist", { recursive: true, force: true });
await build({
  entryPoints: { main: "src/cli/main.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  sourcemap: true,
  logLevel: "warning",
  chunkNames: "chunks/[name]-[hash]",
  // Installed beside us as they are; bundling them would gain nothing and break native and asset look-ups.
  external: Object.keys(dependencies),
});

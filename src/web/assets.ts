import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../daemon/pages/package-root.ts";

/** What the pages load, as the build has put it beside the program. */
export interface Assets {
  files: Readonly<Record<string, { bytes: Buffer; type: string }>>;
  /** Another one for other contents: addresses with it may be kept for good. */
  version: string;
}

const types = {
  "style.css": "text/css; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/** Reads the assets from `dist/web`. */
export function loadAssets(): Assets {
  const folder = join(packageRoot(), "dist", "web");
  const files = Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, { bytes: readFileSync(join(folder, name)), type }]),
  );
  const digest = createHash("sha256");
  for (const { bytes } of Object.values(files)) digest.update(bytes);
  return { files, version: digest.digest("base64url").slice(0, 12) };
}

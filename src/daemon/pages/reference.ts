import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { fastify } from "fastify";
import { escapeHtml } from "../../core/kernel/html.ts";
import { docsNavigation } from "./guides.ts";

/** A script as it is sent. */
export interface Asset {
  gzipped: Buffer;
  etag: string;
}

let loading: Promise<Asset> | undefined;

/** The reference's own script, from the package that we ship. Megabytes: loaded when it is first asked for. */
export function referenceScript(): Promise<Asset> {
  loading ??= loadScript();
  return loading;
}

// The package gives its script out by its Fastify plugin only: that is asked once, in process.
async function loadScript(): Promise<Asset> {
  const { default: reference } = await import("@scalar/fastify-api-reference");
  const carrier = fastify();
  carrier.register(reference, { routePrefix: "/reference", configuration: { url: "/openapi.json" } });
  const { rawPayload, statusCode } = await carrier.inject("/reference/js/scalar.js");
  await carrier.close();
  if (statusCode !== 200) throw new Error("the API reference's script is not where its package used to have it");
  const etag = `"${createHash("sha256").update(rawPayload).digest("base64url").slice(0, 22)}"`;
  return { gzipped: await promisify(gzip)(rawPayload), etag };
}

/** The script that starts the reference, with all that would leave this host turned off. */
export function startScript(documentAddress: string): string {
  const configuration = {
    url: documentAddress,
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: "",
    hideClientButton: true,
    showDeveloperTools: "never",
    agent: { disabled: true },
    mcp: { disabled: true },
  };
  return `Scalar.createApiReference("#app", ${JSON.stringify(configuration)});\n`;
}

// The reference has a theme of its own, so the links above it are readable on any.
const HEADER_STYLE = "padding: 0.4rem 1rem; font: 15px/1.9 system-ui, sans-serif; background: #fff; color: #222";

/** The page that the API reference is drawn on; `base` is the path of /docs. */
export function referencePage(base: string): string {
  const at = escapeHtml(base);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Partner API</title>
<link rel="icon" href="data:,">
</head>
<body>
<header style="${HEADER_STYLE}">${docsNavigation(base)}</header>
<div id="app"></div>
<noscript><p>The reference needs JavaScript. The guides and the errors do not.</p></noscript>
<script src="${at}/reference.js"></script>
<script src="${at}/start.js"></script>
</body>
</html>
`;
}

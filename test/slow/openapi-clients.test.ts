/** @module-tag slow */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { getHttpOperationsFromSpec } from "@stoplight/prism-http";
import { createServer } from "@stoplight/prism-http-server";
import { build } from "esbuild";
import { type ExecaError, execa } from "execa";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { addProducts } from "../support/catalog.ts";
import { scenarios, stageProducts } from "../support/contract-scenarios.ts";
import { startDaemon } from "../support/daemon.ts";
import { type OpenApi, openApiOf, operationsIn } from "../support/openapi.ts";
import { startPlatform } from "../support/platform.ts";
import { openShop } from "../support/shop.ts";
import { root } from "../support/sources.ts";
import { temporaryDirectory } from "../support/store.ts";

// A workspace of its own: some generators need the compiler's JavaScript API, which TypeScript 7 does not have.
const clients = join(root, "test", "clients");

/** Each generator's arguments, from the document to what it makes of it. */
const generators: Record<string, (document: string, out: string) => string[]> = {
  "openapi-typescript": (document, out) => [document, "--output", join(out, "types.ts")],
  "openapi-ts": (document, out) => ["--input", document, "--output", join(out, "sdk")],
  orval: (document, out) => ["--input", document, "--output", join(out, "orval.ts"), "--client", "fetch"],
};

/** What a strict compiler is given; `dom` for fetch. */
const tsconfig = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
    ...{ target: "es2024", module: "esnext", moduleResolution: "bundler", lib: ["es2024", "dom", "dom.iterable"] },
    types: [],
  },
  include: ["."],
};

const USE_OF_TYPES = `import type { components, paths } from "./types";
type Line = components["schemas"]["DeliveredLine"];
export function carrierOf(line: Line): string | undefined {
  return line.product_type === "physical_sim" ? line.fulfillment.carrier : undefined;
}
export function codesOf(line: Line): string[] {
  if (line.product_type === "physical_sim") return [];
  return (line.fulfillment.esims ?? []).map((esim) => esim.activation_code);
}
type Refusal = paths["/api/v1/orders"]["post"]["responses"][402]["content"]["application/problem+json"];
export const missing = (refusal: Refusal): number => refusal.shortfall_cents;
export const order: components["schemas"]["NewOrder"] = { line_items: [], metadata: null };
`;

const PURCHASE = `import { client } from "./sdk/client.gen";
import { createOrder, getOrder, getOrderEsims, issueToken, listProducts } from "./sdk/sdk.gen";
declare const process: { env: Record<string, string | undefined> };
const { BASE = "", CLIENT_ID, CLIENT_SECRET } = process.env;
client.setConfig({ baseUrl: BASE });
const credential = { grant_type: "client_credentials", client_id: CLIENT_ID, client_secret: CLIENT_SECRET } as const;
const token = await issueToken({ body: credential, throwOnError: true });
client.setConfig({ auth: token.data.access_token });
const products = await listProducts({ query: { region: "Europe" }, throwOnError: true });
const [product] = products.data.data;
if (product === undefined) throw new Error("no product");
const { data: order } = await createOrder({
  headers: { "Idempotency-Key": "generated-1" },
  body: { line_items: [{ product_id: product.id, quantity: 1 }] },
  throwOnError: true,
});
const path = { id: order.id };
for (;;) {
  const { data } = await getOrder({ path, throwOnError: true });
  if (data.status === "fulfilled") break;
  await new Promise((resolve) => setTimeout(resolve, 200));
}
const esims = await getOrderEsims({ path, throwOnError: true });
const refused = await createOrder({
  headers: { "Idempotency-Key": "generated-2" },
  body: { line_items: [{ product_id: product.id, quantity: 9999 }] },
});
const shortfall = refused.error !== undefined && "shortfall_cents" in refused.error ? refused.error.shortfall_cents : 0;
console.log(JSON.stringify({ code: esims.data.esims[0]?.activation_code, shortfall }));
`;

/** Runs a tool; a failure shows its output. */
async function run(file: string, args: string[], localDir = root, env: Record<string, string> = {}): Promise<string> {
  const options = { preferLocal: true, localDir, env: { SCARF_ANALYTICS: "false", ...env } };
  return execa(file, args, options).then(
    ({ stdout }) => stdout,
    ({ shortMessage, stdout, stderr }: ExecaError) => {
      throw new Error(`${shortMessage}\n${stdout}\n${stderr}`);
    },
  );
}

async function savedDocument(url: string): Promise<string> {
  const file = join(temporaryDirectory(), "openapi.json");
  writeFileSync(file, await (await fetch(`${url}/openapi.json`)).text());
  return file;
}

test("three generators make strict clients of the document, and one of them buys an eSIM", async () => {
  const shop = await openShop({ folder: temporaryDirectory(), stock: { EU5: 1 }, priceCents: 990, fundsCents: 2_000 });
  const { url } = await startDaemon({ data: shop.data });
  const document = await savedDocument(url);
  const out = temporaryDirectory();
  const runs = Object.entries(generators).map(([name, args]) => run(name, args(document, out), clients));
  await Promise.all(runs);
  writeFileSync(join(out, "package.json"), '{"type":"module"}');
  writeFileSync(join(out, "tsconfig.json"), JSON.stringify(tsconfig));
  writeFileSync(join(out, "use.ts"), USE_OF_TYPES);
  writeFileSync(join(out, "purchase.ts"), PURCHASE);
  await run("tsc", ["-p", out]);

  const program = join(out, "purchase.mjs");
  const entryPoints = [join(out, "purchase.ts")];
  await build({ entryPoints, outfile: program, bundle: true, format: "esm", platform: "node", logLevel: "error" });
  const { clientId, clientSecret } = shop;
  const env = { BASE: url, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
  const bought = JSON.parse(await run(process.execPath, [program], root, env));
  expect(bought.code).toMatch(/^LPA:1\$/);
  expect(bought.shortfall, "9999 eSIMs for 9.90 each, 10.10 left").toBe(9999 * 990 - 1010);
});

test("the document passes the rules of spectral:oas without a finding", async () => {
  const { url } = await startPlatform();
  const ruleset = join(root, ".spectral.yaml");
  const document = await savedDocument(url);
  const args = ["lint", document, "--ruleset", ruleset, "--format", "json", "--fail-severity", "hint"];
  expect(JSON.parse(await run("spectral", [...args, "--quiet"]))).toEqual([]);
});

/** Prism between the scenarios and the daemon, comparing each response with the document. */
async function validatingProxy(upstream: string): Promise<string> {
  const document = await (await fetch(`${upstream}/openapi.json`)).json();
  // Prism routes by path alone where no server is named.
  const operations = await getHttpOperationsFromSpec({ ...Object(document), servers: [{ url: upstream }] });
  const proxy = createServer(operations, {
    components: { logger: pino({ level: "silent" }) },
    cors: false,
    config: {
      ...{ isProxy: true, upstream: new URL(upstream), upstreamProxy: undefined, mock: { dynamic: false } },
      // Scenarios send invalid requests on purpose: the daemon refuses them, not the proxy.
      ...{ checkSecurity: false, validateRequest: false, validateResponse: true, errors: false },
    },
  });
  onTestFinished(() => proxy.close());
  return proxy.listen(0, "127.0.0.1");
}

test("Prism as a validating proxy finds nothing in the contract's scenarios", async () => {
  let direct = "";
  const platform = await startPlatform({
    behind: (url) => {
      direct = url;
      return validatingProxy(url);
    },
  });
  const document: OpenApi = await openApiOf({ url: direct });
  const products = await addProducts(platform.store, stageProducts);
  const known = new Set(operationsIn(document).map(({ operationId }) => operationId));
  const violations: string[] = [];
  let passed = 0;
  for (const [id, byStatus] of Object.entries(scenarios)) {
    expect(known).toContain(id);
    for (const [status, scenario] of Object.entries(byStatus)) {
      const operation = { id, method: "", path: "", scope: null, hasBody: false };
      const reply = await scenario({ platform, operation, products });
      expect(reply.status, `${id}: ${JSON.stringify(reply.body)}`).toBe(Number(status));
      const found = reply.headers.get("sl-violations");
      if (found !== null) violations.push(`${id} ${status}: ${found}`);
      passed += 1;
    }
  }
  expect(violations).toEqual([]);
  expect(passed).toBeGreaterThan(50);
});

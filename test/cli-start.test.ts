import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import packageFile from "../package.json" with { type: "json" };
import { nouns } from "../src/cli/nouns.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import type { App, RoutePlugin } from "../src/daemon/context/fastify.ts";
import { buildHandlers } from "../src/daemon/http/handlers.ts";
import { resourceOf, resourceRoutes, routesFor } from "../src/daemon/routes/by-resource.ts";
import { testClock } from "./support/clock.ts";
import { checkout, launchCommand, program } from "./support/process.ts";
import { openTestStore, temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const preload = join(import.meta.dirname, "support", "loaded-files.ts");

/** The packages whose code a command loads. */
const packagesOf = (...args: string[]) => packagesLoadedBy([program, ...args]);

/** The packages whose code a program loads: each chunk of the build names the files that are in it. */
async function packagesLoadedBy(started: string[]): Promise<string[]> {
  const list = join(temporaryDirectory(), "loaded");
  const env = { ESIMCTL_TEST_LOADED: list };
  const { exitCode } = await launchCommand(process.execPath, ["--import", preload, ...started], { env }).ended;
  expect(exitCode, started.join(" ")).toBe(0);
  const files = readFileSync(list, "utf8").trimEnd().split("\n");
  const named = files.flatMap((url) => {
    if (url.includes("/node_modules/")) return [url];
    return readFileSync(fileURLToPath(url), "utf8").match(/^\s*\/\/ \S*node_modules\/\S+$/gm) ?? [];
  });
  return [...new Set(named.map((one) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(one)?.[1] ?? one))].sort();
}

test("help and version load no more than what reads the command line", async () => {
  expect(await packagesOf("--version")).toEqual([]);
  for (const line of ["--help", "orders --help", "orders create --help", "completion words -- orders "])
    expect(await packagesOf(...line.split(" ")), line).toEqual(["commander", "env-paths", "is-safe-filename"]);
});

test("help of any noun loads no store, no API, no table and no file format", async () => {
  const main = pathToFileURL(join(checkout, "dist", "main.js")).href;
  const script = `const { main } = await import(${JSON.stringify(main)});
    for (const noun of process.argv.slice(1)) await main([noun, "--help"]);`;
  const heavy = /^(fastify|typebox|drizzle-orm|better-sqlite3|temporal-polyfill|@inquirer|cli-|csv-|pino|undici)/;
  // All of them in one process: what any of them loads is in the list.
  const loaded = await packagesLoadedBy(["--input-type=module", "-e", script, ...nouns.map(({ name }) => name)]);
  expect(loaded).toContain("commander");
  expect(loaded.filter((one) => heavy.test(one))).toEqual([]);
});

test("a command on local data loads the store, and the API only where it goes through it", {
  tags: ["slow"],
}, async () => {
  const data = join(temporaryDirectory(), "data");
  for (const line of ["init", "partners create acme --name Acme"]) await esimctl([...line.split(" "), "--data", data]);
  const operator = await packagesOf("partners", "list", "--data", data);
  expect(operator).toEqual(expect.arrayContaining(["better-sqlite3", "drizzle-orm"]));
  for (const heavy of ["fastify", "typebox", "temporal-polyfill", "i18n-iso-countries", "pg", "pino"])
    expect(operator).not.toContain(heavy);
  const completing = await packagesOf("completion", "words", "--", "partners", "show", "--data", data, "");
  expect(completing).toEqual(["better-sqlite3", "commander", "env-paths", "is-safe-filename"]);
  const acting = ["--data", data, "--partner", "acme", "--sandbox"];
  const partner = await packagesOf("webhooks", "list", ...acting);
  expect(partner).toEqual(expect.arrayContaining(["fastify", "typebox"]));
  for (const heavy of ["@fastify/swagger", "helmet", "@inquirer/prompts", "undici", "jose", "qrcode", "pg", "pino"])
    expect([...operator, ...partner]).not.toContain(heavy);
});

/** The package of what is imported: a file of it, too. */
const packageOf = (name: string) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;

test("the built program imports only packages that an installation has", () => {
  const folder = join(import.meta.dirname, "..", "dist");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
  const asked = files.flatMap((name) =>
    Array.from(
      readFileSync(join(folder, name), "utf8").matchAll(
        /^import [^;"]*"([^".][^"]*)"|\bimport\("([^".][^"]*)"\)|\b__require\d*(?:\.resolve)?\("([^".][^"]*)"\)/gm,
      ),
      ([, from, loaded, required]) => packageOf(from ?? loaded ?? required ?? ""),
    ),
  );
  // Required inside a `try`: optional.
  const spared = ["supports-color"];
  const packages = [...new Set(asked.filter((name) => !isBuiltin(name) && !spared.includes(name)))].sort();
  expect(packages).toEqual(["@scalar/fastify-api-reference", "better-sqlite3", "pg", "pino", "pino-pretty"]);
  expect(Object.keys(packageFile.dependencies)).toEqual(expect.arrayContaining(packages));
});

/** Method and path of what these routes serve. */
async function servedBy(plugins: readonly RoutePlugin[]): Promise<string[]> {
  const clock = testClock();
  const { store } = await openTestStore(clock);
  const addresses = { publicUrl: "http://esim.test", docsUrl: "http://esim.test/docs" };
  const served: string[] = [];
  const noting = plugins.map(
    (plugin): RoutePlugin =>
      (app, context) => {
        app.addHook("onRoute", ({ method, url }) => void served.push(`${method} ${url}`));
        plugin(app, context);
      },
  );
  const app: App = buildHandlers(
    { store, clock, ids: randomIds(), addresses },
    { authenticate: () => Promise.reject(new Error("not called")), trustProxy: false, logger: false, routes: noting },
  );
  await app.ready();
  await app.close();
  return served.sort();
}

test("in process every route of the API is found by the first word of its path", async () => {
  const all = await servedBy(await resourceRoutes());
  const resources = [...new Set(all.map((route) => resourceOf(route)))];
  const found = await Promise.all(resources.map(async (resource) => servedBy(await routesFor(resource))));
  expect(found.flat().sort()).toEqual(all);
  expect(await routesFor("nosuch")).toEqual([]);
});

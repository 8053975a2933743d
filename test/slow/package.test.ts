/** @module-tag slow */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { productionLock, productionPackages } from "../../scripts/production.ts";
import { withoutLastLineEnds } from "../support/cli.ts";
import { launchCommand } from "../support/process.ts";

/** What npm makes of the checkout, installed into an empty prefix as a user would. */
const home = mkdtempSync(join(tmpdir(), "esimctl-package-"));
const prefix = join(home, "prefix");
const installed = join(prefix, "lib", "node_modules", "esimctl");
const data = join(home, "data");
const root = join(import.meta.dirname, "..", "..");

/** A shell of a user who has Node and what was installed, nothing of the checkout, and is logged in nowhere. */
const env = {
  PATH: [join(prefix, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
  HOME: home,
  LANG: "C.UTF-8",
};

beforeAll(async () => {
  const npm = (...args: string[]) => execa("npm", args, { cwd: root });
  await npm("pack", "--pack-destination", home);
  const quietly = ["--prefer-offline", "--no-audit", "--no-fund"];
  await npm("install", "--global", "--prefix", prefix, ...quietly, tarball());
  // Not by the harness of the tests: it ends what it starts with the test, and this is none.
  await execa("esimctl", ["init", "--demo", "--data", data], surroundings);
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

const surroundings = { cwd: home, env, extendEnv: false };

async function run(file: string, args: readonly string[]) {
  return withoutLastLineEnds(await launchCommand(file, args, surroundings).ended);
}

const esimctl = (...args: string[]) => run("esimctl", args);
const bash = (line: string) => run("bash", ["-o", "pipefail", "-c", line]);
const started = (...args: string[]) => launchCommand("esimctl", args, surroundings);

test("holds the program, its manual, its documents and its fixtures, and nothing that only developers need", () => {
  expect(readdirSync(installed).filter((name) => name !== "node_modules")).toEqual(
    expect.arrayContaining(["bin", "dist", "docs", "fixtures", "README.md", "CHANGELOG.md", "SECURITY.md"]),
  );
  for (const absent of ["src", "test", "scripts", "drizzle", "node_modules/typescript", "node_modules/node"])
    expect(existsSync(join(installed, absent)), absent).toBe(false);
  const pages = readdirSync(join(installed, "docs")).map((name) => `docs/${name}`);
  for (const page of ["README.md", "SECURITY.md", ...pages]) {
    if (!page.endsWith(".md")) continue;
    const links = readFileSync(join(installed, page), "utf8").matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g);
    for (const [, link = ""] of links) expect(existsSync(join(installed, dirname(page), link)), link).toBe(true);
  }
  expect(readdirSync(join(installed, "dist"))).not.toContain("cache");
});

test("requires only listed packages, pins each, and leaves no file behind in the checkout", () => {
  const { packages } = JSON.parse(readFileSync(join(installed, "npm-shrinkwrap.json"), "utf8"));
  expect(packages).toEqual(productionLock().packages);
  expect(existsSync(join(root, "npm-shrinkwrap.json"))).toBe(false);
  expect(new Set(installedNames(installed))).toEqual(new Set(productionPackages().map(({ name }) => name)));
});

test("from a registry it comes with exactly the versions that the checkout is tested with", async () => {
  const registry = await registryWith(tarball());
  const elsewhere = join(home, "elsewhere");
  const options = ["--registry", registry, "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await execa("npm", ["install", "--global", "--prefix", elsewhere, ...options, "esimctl"], { cwd: home });
  const folder = join(elsewhere, "lib", "node_modules", "esimctl");
  const expected = productionPackages();
  expect(installedNames(folder)).toHaveLength(expected.length);
  for (const { path, name, version } of expected)
    expect(JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8"))).toMatchObject({ name, version });
});

/** The names of all packages installed within a package, with repetitions. */
function installedNames(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap(
    (path) => path.match(/(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/@.][^/]*)\/package\.json$/)?.[1] ?? [],
  );
}

function tarball(): string {
  return join(home, readdirSync(home).find((name) => name.endsWith(".tgz")) ?? "");
}

/** A registry that has this package, described as registries do, and refers to the configured one for all others. */
async function registryWith(file: string): Promise<string> {
  const { stdout } = await execa("npm", ["config", "get", "registry"], { cwd: root });
  const { name, version, dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const bytes = readFileSync(file);
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const server = createHttpServer(({ url = "" }, response) => {
    if (url === "/esimctl.tgz") return response.end(bytes);
    if (url !== "/esimctl") return response.writeHead(302, { location: new URL(`.${url}`, stdout).href }).end();
    const dist = { tarball: `http://127.0.0.1:${port}/esimctl.tgz`, integrity };
    const manifest = { name, version, dependencies, bin: { esimctl: "bin/esimctl" }, dist, _hasShrinkwrap: true };
    return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: manifest } }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = Object(server.address());
  return `http://127.0.0.1:${port}/`;
}

test("ships the licenses of all that it is built from", () => {
  const licenses = readFileSync(join(installed, "dist", "THIRD-PARTY-LICENSES.md"), "utf8");
  for (const { name, version } of productionPackages()) expect(licenses).toContain(`| ${name} | ${version} | `);
});

test("prints its version and finds its manual", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(await esimctl("--version")).toEqual({ exitCode: 0, stdout: version, stderr: "" });
  expect(readFileSync(join(prefix, "share", "man", "man1", "esimctl.1"), "utf8")).toContain(`"esimctl ${version}"`);
});

test.skipIf(!existsSync("/usr/bin/man"))("man finds it too, without warnings", async () => {
  expect(await bash("man -w esimctl")).toMatchObject({ stdout: join(installed, "dist", "esimctl.1") });
  expect(await bash("man --warnings esimctl >page && grep -c -- --idempotency-key page")).toMatchObject({
    exitCode: 0,
    stderr: "",
  });
});

test("exit codes: 0 done, 1 failed, 2 wrong usage, 3 some items failed, 4 not authorized", async () => {
  const sandbox = ["--partner", "small", "--sandbox", "--data", data];
  expect((await esimctl("partners", "create", "small", "--name", "Small", "--data", data)).exitCode).toBe(0);
  expect((await esimctl("orders", "show", "01a1feaa-0000-7000-8000-000000000000", ...sandbox)).exitCode).toBe(1);
  expect((await esimctl("orders", "list", "--nosuch")).exitCode).toBe(2);
  // The second has a wrong check digit.
  const rows = [
    "iccid,activation_code",
    "8937200000000901002,LPA:1$x.example$K-1",
    "8937200000000901029,LPA:1$x.example$K-2",
  ];
  writeFileSync(join(home, "stock.csv"), `${rows.join("\n")}\n`);
  const imported = await esimctl("stock", "import", "stock.csv", "--sku", "ES-EU-20GB-30D", "--data", data);
  expect(imported.exitCode).toBe(3);
  expect((await esimctl("orders", "list", "--partner", "small", "--data", data)).exitCode).toBe(4);
});

test("with --json stdout is one document, also where it fails", async () => {
  for (const [line, code] of [
    [`partners list --data ${data}`, 0],
    [`partners show absent --data ${data}`, 1],
    ["orders list --nosuch", 2],
    [`wallet balance --data ${data}-not --partner demo`, 1],
  ] as const) {
    const ended = await esimctl(...line.split(" "), "--json");
    expect(ended, line).toMatchObject({ exitCode: code, stderr: "" });
    expect(Object.keys(JSON.parse(ended.stdout)), line).toEqual(code === 0 ? ["data", "count"] : ["error"]);
  }
});

test("without a terminal it asks nothing and uses no colors, but names the flag that answers", async () => {
  const unasked = await esimctl("partners", "suspend", "demo", "--data", data);
  expect(unasked).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("--yes") });
  const whose = await esimctl("wallet", "transactions", "--data", data);
  expect(whose).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--partner") });
  const listed = await esimctl("products", "list", "--data", data);
  for (const { stdout, stderr } of [unasked, whose, listed]) expect(stdout + stderr).not.toContain("\x1b");
});

test("it ends silently when its reader closes the pipe", async () => {
  for (const reader of ["head -1", "true"]) {
    const line = `esimctl products list --all --data '${data}' --partner demo | ${reader}`;
    expect(await bash(line), line).toMatchObject({ exitCode: 0, stderr: "" });
  }
  expect((await bash("esimctl help --man | true")).stderr).toBe("");
});

test("SIGINT ends a command with 130", async () => {
  // A server that accepts the request and never responds.
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const address = Object(silent.address());
  const credential = ["--client-id", "sk_test_x", "--client-secret", "x"];
  const arrived = once(silent, "connection");
  const { end } = started("orders", "list", "--server", `http://127.0.0.1:${address.port}`, ...credential);
  const [socket] = await arrived;
  expect(await end("SIGINT")).toMatchObject({ exitCode: 130, signal: null });
  socket.destroy();
});

test("compiled code is kept in the user's cache folder", async () => {
  mkdirSync(join(home, ".cache"), { recursive: true });
  await esimctl("partners", "list", "--data", data);
  // Node keeps one folder per version and set of flags: imports have flags of their own.
  const folders = readdirSync(join(home, ".cache", "esimctl"));
  expect(folders).not.toHaveLength(0);
  for (const folder of folders) expect(folder).toMatch(/^v24\./);
});

test("init --demo, serve, and a request with what was printed; SIGTERM stops it cleanly", async () => {
  const { end, printed } = started("serve", "--data", data, "--port", "0", "--json");
  const { url } = JSON.parse(await printed('"event":"listening"'));
  const { credentials } = JSON.parse(readFileSync(join(data, "demo-credentials.json"), "utf8"));
  const { client_id, client_secret } = credentials[0];
  const form = `-d grant_type=client_credentials -d client_id=${client_id} -d client_secret=${client_secret}`;
  const token = JSON.parse((await bash(`curl -sf ${url}/api/v1/oauth/token ${form}`)).stdout).access_token;
  const listed = await bash(`curl -sf '${url}/api/v1/products?limit=3' -H 'Authorization: Bearer ${token}'`);
  expect(JSON.parse(listed.stdout).data).toHaveLength(3);
  for (const page of ["/docs", "/docs/api", "/docs/webhooks", "/docs/states"])
    expect((await bash(`curl -sf ${url}${page}`)).stdout, page).toContain("<!doctype html>");
  expect((await bash(`curl -sf --compressed ${url}/docs/reference.js | wc -c`)).stdout).toMatch(/^\d{6,}$/);
  expect(await end("SIGTERM")).toMatchObject({ exitCode: 0, signal: null });
});

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, request } from "undici";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";
import { eventually } from "./hangs.ts";
import type { Reply } from "./platform.ts";
import { checkout, launchCommand } from "./process.ts";
import { temporaryDirectory } from "./store.ts";

/** Proxies whose configuration is in deploy/proxy. */
export type ProxyName = "haproxy" | "nginx";

const configuration = (file: string) => join(checkout, "deploy", "proxy", file);

/** Whether it is installed here, and a certificate can be made for it. */
export function hasProxy(name: ProxyName): boolean {
  return (
    programOf(name) !== undefined && ["/usr/bin/openssl", "/usr/local/bin/openssl"].some((path) => existsSync(path))
  );
}

function programOf(name: ProxyName): string | undefined {
  return ["/usr/sbin", "/usr/bin", "/usr/local/sbin"]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** A proxy before some nodes on this machine, with TLS under a certificate of its own. */
export interface RunningProxy {
  /** A request through it. */
  call(
    path: string,
    init?: { method?: "GET" | "POST"; headers?: Record<string, string>; body?: string },
  ): Promise<Reply>;
  /** Its log of requests so far. */
  log(): string;
}

/** Checks the shipped configuration with the program's own check, then starts it before `nodes`; ends with the test. */
export async function startProxy(name: ProxyName, nodes: readonly string[]): Promise<RunningProxy> {
  const folder = temporaryDirectory();
  const port = await freePort();
  const accessLog = join(folder, "access.log");
  const addresses = nodes.map((url) => new URL(url).host);
  const { command, env } =
    name === "haproxy" ? await haproxyCommand(folder, port, addresses) : await nginxCommand(folder, port, addresses);
  const program = programOf(name) ?? name;
  const check = await launchCommand(program, [...command, name === "haproxy" ? "-c" : "-t"], { env }).ended;
  if (check.exitCode !== 0) throw new Error(check.stderr + check.stdout);
  const foreground = name === "haproxy" ? ["-db"] : ["-g", "daemon off;"];
  const running = launchCommand(program, [...command, ...foreground], { env });
  // Killed, nginx would leave its workers behind.
  onTestFinished(async () => void (await running.end("SIGTERM")));
  // The certificate is no authority's.
  const agent = new Agent({ connect: { rejectUnauthorized: false }, allowH2: false });
  onTestFinished(() => agent.destroy());
  const call: RunningProxy["call"] = async (path, init = {}) => {
    const { method = "GET", ...rest } = init;
    const response = await request(`https://127.0.0.1:${port}${path}`, { method, ...rest, dispatcher: agent });
    const text = await response.body.text();
    const type = String(response.headers["content-type"]);
    const headers = new Headers({ "content-type": type });
    return { status: response.statusCode, headers, body: /json/.test(type) && text !== "" ? JSON.parse(text) : text };
  };
  const ready = eventually(
    () => call("/readyz").catch(() => null),
    (reply) => reply?.status === 200,
  );
  const refused = running.ended.then(({ stderr, stdout }) => {
    throw new Error(`${name} did not start: ${stderr}${stdout}`);
  });
  refused.catch(() => undefined);
  await Promise.race([ready, refused]);
  const log = () => running.text() + (existsSync(accessLog) ? readFileSync(accessLog, "utf8") : "");
  return { call, log };
}

interface Command {
  command: string[];
  env: Record<string, string>;
}

/** The configuration takes its addresses from the environment. */
async function haproxyCommand(folder: string, port: number, nodes: string[]): Promise<Command> {
  const { certificate, key } = await makeCertificate(folder);
  const both = join(folder, "esimctl.pem");
  writeFileSync(both, readFileSync(certificate, "utf8") + readFileSync(key, "utf8"));
  const servers = Object.fromEntries(nodes.map((address, at) => [`NODE${at + 1}`, address]));
  const env = { ...servers, BIND: `127.0.0.1:${port}`, CERTIFICATE: both };
  return { command: ["-f", configuration("haproxy.cfg")], env };
}

/** The configuration with the addresses and paths of this test. */
async function nginxCommand(folder: string, port: number, nodes: string[]): Promise<Command> {
  const { certificate, key } = await makeCertificate(folder);
  const own = join(folder, "nginx.conf");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const text = nodes.reduce(
    (before, address, at) => before.replace(`10.0.0.1${at + 1}:8080`, address),
    readFileSync(configuration("nginx.conf"), "utf8")
      .replace("listen 443", `listen 127.0.0.1:${port}`)
      .replace(/\S+fullchain\.pem/, certificate)
      .replace(/\S+privkey\.pem/, key)
      .replace(/\S+esimctl\.log/, `${folder}/access.log`)
      .replace(/\S+error\.log/, `${folder}/error.log`)
      .replace("http {", `http {\n  ${paths.join("\n  ")}`),
  );
  writeFileSync(own, `pid ${folder}/nginx.pid;\n${text}`);
  return { command: ["-p", folder, "-c", own], env: {} };
}

/** A certificate for this test alone, made in `folder`. */
export async function makeCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const what = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=esim.example.com"];
  const { exitCode, stderr } = await launchCommand("openssl", [...what, "-keyout", key, "-out", certificate]).ended;
  if (exitCode !== 0) throw new Error(stderr);
  return { certificate, key };
}

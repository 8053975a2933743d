import { existsSync, readFileSync } from "node:fs";
import { BlockList } from "node:net";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { type Compose, composeFaults, parseCompose, secretsOf } from "./support/compose.ts";
import { root } from "./support/sources.ts";
import { esimctl } from "./support/warm.ts";

const deploy = join(root, "deploy");
const text = readFileSync(join(deploy, "compose.yaml"), "utf8");
const file = parseCompose(text);
const { services } = file;
const nodes = Object.values(services).filter(({ image }) => image === "esimctl");

test("each volume, secret, network, service and health that the compose file names is there, and each is used", () => {
  expect(composeFaults(file)).toEqual([]);
  expect(nodes).toHaveLength(3);
});

test.each<[string, (changed: Compose) => unknown, string]>([
  ["a volume", ({ volumes }) => delete volumes.socket, "node1: there is no volume socket"],
  ["a secret", ({ secrets }) => delete secrets["esimctl.key"], "node2: there is no secret esimctl.key"],
  ["a service", (all) => delete all.services.postgres, "node3: there is no service postgres"],
  ["a health check", (all) => delete all.services.postgres?.healthcheck, "node1: postgres has no healthcheck"],
  ["a network", ({ networks }) => delete networks.default, "node1: there is no network default"],
  ["what uses a secret", (all) => delete all.services.haproxy, "nothing uses the secret esimctl.pem"],
  ["the spelling", (all) => Object.assign(all.services.node1 ?? {}, { volume: [] }), "node1 has volume"],
])("without %s it is refused", (_, change, fault) => {
  const changed = parseCompose(text);
  change(changed);
  expect(composeFaults(changed)).toContain(fault);
});

test("files that it reads are in the repository, but for secrets", () => {
  for (const { build, volumes = [] } of Object.values(services)) {
    const files = volumes.filter((volume) => volume.startsWith(".")).map((volume) => volume.split(":")[0] ?? "");
    for (const path of files) expect(existsSync(join(deploy, path)), path).toBe(true);
    if (build === undefined) continue;
    expect(resolve(deploy, build.context)).toBe(resolve(root));
    expect(existsSync(join(root, build.dockerfile))).toBe(true);
  }
});

test("its nodes have options and variables of serve, their key, and the socket of the database", async () => {
  const shown = [await esimctl(["serve", "--help"]), await esimctl(["help", "options"])];
  const help = shown.map(({ stdout }) => stdout).join("\n");
  const page = readFileSync(join(root, "docs", "installing.md"), "utf8");
  for (const node of nodes) {
    const { command: [verb, ...options] = [], environment = {}, volumes = [] } = node;
    expect(verb).toBe("serve");
    for (const option of options) expect(help).toMatch(new RegExp(`^ +${option.split("=")[0]}[ \\n]`, "m"));
    for (const name of Object.keys(environment)) expect(page).toContain(`\`${name}`);
    expect(secretsOf(node).map((name) => `/run/secrets/${name}`)).toContain(environment.ESIMCTL_KEY_FILE);
    const { searchParams } = new URL(environment.ESIMCTL_DATABASE?.replace("@/", "@localhost/") ?? "");
    const socket = volumes.find((volume) => volume.endsWith(`:${searchParams.get("host")}`));
    expect(socket).toBeDefined();
    expect(services.postgres?.volumes).toContain(socket);
  }
});

test("the database takes the connections of all nodes, and some more", () => {
  const [, most] = /max_connections=(\d+)/.exec(services.postgres?.command?.join(" ") ?? "") ?? [];
  const asked = nodes.map(({ environment }) => Number(environment?.ESIMCTL_DATABASE_CONNECTIONS));
  // PostgreSQL keeps 3 for superusers.
  expect(asked.reduce((sum, each) => sum + each, 3 + nodes.length)).toBeLessThanOrEqual(Number(most));
});

test("the proxy asks each node at its address, which is of their network", () => {
  const { NODE1, NODE2, NODE3, ...rest } = services.haproxy?.environment ?? {};
  const addresses = nodes.map(({ networks }) => networks?.default?.ipv4_address ?? "");
  expect([NODE1, NODE2, NODE3]).toEqual(addresses.map((address) => `${address}:8080`));
  const [subnet = "", bits] = file.networks.default?.ipam.config[0]?.subnet.split("/") ?? [];
  const network = new BlockList();
  network.addSubnet(subnet, Number(bits));
  expect(addresses.filter((address) => !network.check(address))).toEqual([]);
  const config = readFileSync(join(deploy, "proxy", "haproxy.cfg"), "utf8");
  for (const name of ["NODE1", "NODE2", "NODE3", ...Object.keys(rest)]) expect(config).toContain(`\${${name}`);
});

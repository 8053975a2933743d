import { parse } from "yaml";

/** What is looked at of a service of Compose. */
interface Service {
  image?: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  secrets?: (string | { source: string; target: string })[];
  depends_on?: string[] | Record<string, { condition: string }>;
  networks?: Record<string, { ipv4_address: string }>;
  healthcheck?: { test: string[] };
  restart?: string;
  stop_grace_period?: string;
}

/** A file of Compose. */
export interface Compose {
  name: string;
  services: Record<string, Service>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
}

/** The members that we use: Compose refuses others. */
const SERVICE = new Set([
  ...["image", "build", "init", "command", "environment", "secrets", "volumes", "tmpfs", "networks", "ports"],
  ...["depends_on", "healthcheck", "restart", "stop_grace_period", "read_only", "cap_drop", "security_opt", "shm_size"],
]);
const HEALTHCHECK = new Set(["test", "interval", "timeout", "retries", "start_period"]);
const FILE = new Set(["name", "services", "networks", "volumes", "secrets"]);

/** Reads such a file, with what it merges. */
export function parseCompose(text: string): Compose {
  return parse(text, { merge: true, strict: true });
}

/** What Compose would refuse, or what would not work: names without what they name, and what nothing names. */
export function composeFaults(file: Compose): string[] {
  return [
    ...unknown("the file", file, FILE),
    ...Object.entries(file.services).flatMap(([name, service]) => serviceFaults(name, service, file)),
    ...unused("volume", file.volumes, Object.values(file.services).flatMap(volumesOf)),
    ...unused("secret", file.secrets, Object.values(file.services).flatMap(secretsOf)),
    ...addressesTwice(file),
  ];
}

function serviceFaults(name: string, service: Service, file: Compose): string[] {
  const { healthcheck = { test: ["CMD"] }, networks = {} } = service;
  return [
    ...unknown(name, service, SERVICE),
    ...unknown(`${name}'s healthcheck`, healthcheck, HEALTHCHECK),
    ...(/^CMD(-SHELL)?$/.test(healthcheck.test[0] ?? "") ? [] : [`${name}'s healthcheck has no command`]),
    ...(service.image === undefined ? [`${name} has no image`] : []),
    ...missing(name, "volume", volumesOf(service), file.volumes),
    ...missing(name, "secret", secretsOf(service), file.secrets),
    ...missing(name, "network", Object.keys(networks), file.networks),
    ...dependencyFaults(name, service, file),
  ];
}

function dependencyFaults(name: string, { depends_on = [] }: Service, { services }: Compose): string[] {
  const started = "service_started";
  const needed = Array.isArray(depends_on)
    ? depends_on.map((other) => [other, started] as const)
    : Object.entries(depends_on).map(([other, { condition }]) => [other, condition] as const);
  return needed.flatMap(([other, condition]) => {
    if (services[other] === undefined) return [`${name}: there is no service ${other}`];
    if (condition === started) return [];
    if (condition !== "service_healthy") return [`${name}: there is no condition ${condition}`];
    return services[other].healthcheck === undefined ? [`${name}: ${other} has no healthcheck`] : [];
  });
}

/** The named volumes of a service; the others are files beside the document. */
function volumesOf({ volumes = [] }: Service): string[] {
  return volumes.map((volume) => volume.split(":")[0] ?? "").filter((source) => !source.startsWith("."));
}

/** The secrets of a service. */
export function secretsOf({ secrets = [] }: Service): string[] {
  return secrets.map((secret) => (typeof secret === "string" ? secret : secret.source));
}

function addressesTwice({ services }: Compose): string[] {
  const all = Object.values(services).flatMap(({ networks = {} }) => Object.values(networks));
  const addresses = all.map(({ ipv4_address }) => ipv4_address);
  return addresses.filter((one, at) => addresses.indexOf(one) !== at).map((one) => `${one} is given twice`);
}

function unknown(where: string, members: object, known: Set<string>): string[] {
  const names = Object.keys(members).filter((name) => !known.has(name) && !name.startsWith("x-"));
  return names.map((name) => `${where} has ${name}`);
}

function missing(where: string, what: string, names: string[], defined: object): string[] {
  return names.filter((name) => !Object.hasOwn(defined, name)).map((name) => `${where}: there is no ${what} ${name}`);
}

function unused(what: string, defined: object, names: string[]): string[] {
  const left = Object.keys(defined).filter((name) => !names.includes(name));
  return left.map((name) => `nothing uses the ${what} ${name}`);
}

import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import { updatePartner } from "../../src/core/partners/update.ts";
import { partnerBounds } from "../../src/core/store/schema/values.ts";
import { checkWallets } from "../../src/core/wallet/check.ts";
import { type Ask, accessEntries, acquire, type Belongings } from "./access.ts";
import { addProducts, addStock } from "./catalog.ts";
import { key } from "./generic-scenarios.ts";
import { type Chance, chance, garbled, mutated, oddJson } from "./mutate.ts";
import type { Caller, Platform } from "./platform.ts";
import { seeded } from "./random.ts";
import { SHARED_SECRET, signed } from "./signed.ts";

/** What one run saw. */
export interface FireReport {
  seed: number;
  inputs: number;
  /** Responses by status; `closed`: the connection ended without one. */
  statuses: Record<string, number>;
  /** Each with the input that caused it. */
  faults: string[];
}

interface Shot {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

interface Shown {
  status: number | "closed";
  headers: IncomingHttpHeaders;
  text: string;
}

const IN_FLIGHT = 16;
/** Identity data that activation requests carry; no endpoint returns it. */
const IDENTITY = ["QX8342075", "22542821", "Currawong"];
const INSIDES = /node_modules|\bat \S+ \(|\.ts:\d+|sqlite|drizzle|failed query|ECONNREFUSED|esimctl\.key/i;

/** Sends `inputs` malformed, hostile or surprising requests to a platform and reports every 5xx and every leak. */
export async function fire(
  platform: Platform,
  { inputs, seed }: { inputs: number; seed: number },
): Promise<FireReport> {
  const by = chance(seeded(seed));
  const product = await stock(platform);
  const victim = await platform.caller({ slug: "victim", agent: true });
  const attacker = await platform.caller({ slug: "attacker", agent: true });
  const live = await platform.credential("attacker", { live: true });
  await unbound(platform, "attacker");
  await platform.fund(live.partnerId, 500_000);
  const treasure = await acquire(platform, victim, product);
  const before = await everythingOf(victim, treasure);
  const report: FireReport = { seed, inputs, statuses: {}, faults: [] };
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  let own = await acquire(platform, attacker, product);
  try {
    for (let sent = 0; sent < inputs; sent += IN_FLIGHT) {
      if (sent % 2_000 < IN_FLIGHT) own = await acquire(platform, attacker, product);
      const shots = Array.from({ length: Math.min(IN_FLIGHT, inputs - sent) }, () =>
        aimed({ by, own, treasure, attacker, live, now: platform.clock.now() }),
      );
      await Promise.all(shots.map((shot) => take(platform, { shot, agent, by, treasure, report })));
    }
  } finally {
    agent.destroy();
  }
  if (JSON.stringify(await everythingOf(victim, treasure)) !== JSON.stringify(before)) {
    report.faults.push("what belongs to another partner was changed");
  }
  const { ok } = await platform.store.read(checkWallets, { minimum: () => null });
  if (!ok) report.faults.push("ledger and balances differ");
  return report;
}

async function stock({ store }: Platform): Promise<ProductId> {
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 100 }]);
  if (EU5 === undefined) throw new Error("no product");
  await addStock(store, "EU5", 200);
  return EU5;
}

/** The default limits would end a long run: records of valid requests stay. */
async function unbound({ store }: Platform, slug: string): Promise<void> {
  const { max_endpoints, max_sandbox_activations } = partnerBounds;
  const bounds = { max_endpoints: max_endpoints.most, max_sandbox_activations: max_sandbox_activations.most };
  await store.write(updatePartner, { slug, bounds, actor: "test" });
}

/** The owner's records, to show that no other caller changed them. */
async function everythingOf(owner: Caller, of: Belongings): Promise<unknown[]> {
  const paths = [
    `/api/v1/orders/${of.order}/esims`,
    `/api/v1/activations/${of.activation}`,
    "/api/v1/kyc/passports",
    "/api/v1/webhooks",
  ];
  return Promise.all(paths.map(async (path) => (await owner.get(path)).body));
}

interface Aim {
  by: Chance;
  own: Belongings;
  treasure: Belongings;
  attacker: Caller;
  live: Caller;
  now: number;
}

// Pages have no input: they get one request in ten.
const every = Object.entries(accessEntries);
const api = every.filter(([name]) => name.includes(" /api/"));

/** One input: a request that would succeed, with one or several parts of it spoiled. */
function aimed({ by, own, treasure, attacker, live, now }: Aim): Shot {
  const routes = by.next() < 0.9 ? api : every;
  const [name = "", entry = () => ({ path: "/" })] = routes[by.below(routes.length)] ?? [];
  const { path, body }: Ask = entry(by.next() < 0.25 ? treasure : own);
  const method = by.next() < 0.95 ? (name.split(" ")[0] ?? "GET") : by.pick(["PUT", "OPTIONS", "TRACE", "DELETE"]);
  const spoiled = by.below(8);
  const text = body === undefined && method === "GET" ? undefined : spoiledBody(body ?? {}, spoiled, by);
  const headers: Record<string, string> = text === undefined ? {} : { "content-type": "application/json" };
  const who = by.next();
  if (who < 0.85) headers.authorization = `Bearer ${who < 0.7 ? attacker.token : live.token}`;
  else if (who < 0.95) headers.authorization = garbled(`Bearer ${attacker.token}`, by);
  if (path.includes("/callbacks/")) Object.assign(headers, signed(text ?? "", now, SHARED_SECRET));
  if (method === "POST") Object.assign(headers, by.next() < 0.8 ? key() : { "idempotency-key": "fire" });
  if (spoiled === 4) spoilHeader(headers, by);
  return { method, path: spoiled === 3 ? spoiledPath(path, by) : path, headers, body: text };
}

function spoiledBody(body: unknown, spoiled: number, by: Chance): string {
  if (spoiled === 0) return oddJson(JSON.stringify(body), by);
  return JSON.stringify(spoiled <= 2 || spoiled >= 5 ? mutated(body, by) : body);
}

function spoiledPath(path: string, by: Chance): string {
  const [address = "", query = ""] = path.split("?");
  const values = [
    "limit",
    "cursor",
    "status",
    "page",
    "carrier",
    "country",
    "sort",
    "created_after",
    "markup",
  ] as const;
  const more = Array.from({ length: by.below(4) }, () => {
    const value = mutated("x", by);
    return `${by.pick(values)}${by.pick(["", "[]", "[a]"])}=${encode(textOf(value).slice(0, 5_000))}`;
  });
  const asked = [query, ...more].filter((part) => part !== "").join("&");
  const at = by.next() < 0.5 ? garbled(address, by) : address;
  return `/${at.replace(/^\/+/, "")}${asked === "" ? "" : `?${asked}`}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function spoilHeader(headers: Record<string, string>, by: Chance): void {
  const names = [
    "content-type",
    "accept",
    "idempotency-key",
    "x-request-id",
    "if-none-match",
    "authorization",
  ] as const;
  const value = by.pick([
    "",
    "text/csv",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "Basic Zm9vOmJhcg==",
    "x".repeat(300),
    'W/"x", *',
    "\u00ff\u00fe",
  ]);
  headers[by.pick([...names, "content-encoding", "accept-encoding", "x-forwarded-for", "x-signature"])] = value;
}

interface Hit {
  shot: Shot;
  agent: Agent;
  by: Chance;
  treasure: Belongings;
  report: FireReport;
}

async function take({ url }: Platform, { shot, agent, by, treasure, report }: Hit): Promise<void> {
  const raw = by.next() < 0.02;
  const garbage = raw ? garbled(headOf(shot), by) : "";
  const shown = raw ? await sendRaw(url, garbage) : await sendShot(url, shot, agent);
  report.statuses[shown.status] = (report.statuses[shown.status] ?? 0) + 1;
  const input = raw ? JSON.stringify(garbage) : JSON.stringify(shot);
  for (const fault of faultsOf(shown, input, treasure)) {
    report.faults.push(`${fault}\n  to ${input.slice(0, 2_000)}\n  answered ${shown.text.slice(0, 500)}`);
  }
}

function faultsOf({ status, text }: Shown, input: string, treasure: Belongings): string[] {
  const faults: string[] = [];
  if (typeof status === "number" && status >= 500) faults.push(`status ${status}`);
  // Pages and the document hold made-up examples, and links of an eSIM show it without a token.
  if (!/^\S* ?\/?api\/v1|"path":"\/api\/v1/.test(input)) return faults;
  if (INSIDES.test(text) && !INSIDES.test(input)) faults.push("the inside of the program is shown");
  const { product, qr, ...theirs } = treasure;
  for (const own of Object.values(theirs)) {
    if (text.includes(own) && !input.includes(own)) faults.push(`what is another partner's is shown: ${own}`);
  }
  for (const secret of IDENTITY) if (text.includes(secret)) faults.push(`identity data is shown: ${secret}`);
  return faults;
}

function sendShot(url: string, { method, path, headers, body }: Shot, agent: Agent): Promise<Shown> {
  const { hostname, port } = new URL(url);
  // Node's own client refuses to send these; the raw requests carry them.
  const sendable = path.replace(/[^\x21-\x7e]/g, (character) => encode(character));
  const lines = Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?")]);
  if (body !== undefined) lines.push(["content-length", String(Buffer.byteLength(body))]);
  return new Promise((resolve) => {
    const closed = () => resolve({ status: "closed", headers: {}, text: "" });
    const sent = request(
      { hostname, port, method, path: sendable, headers: Object.fromEntries(lines), agent },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? "closed", headers: response.headers, text }));
        response.on("error", closed);
      },
    );
    sent.on("error", closed);
    sent.end(body);
  });
}

function headOf({ method, path, headers, body = "" }: Shot): string {
  const lines = Object.entries({ host: "127.0.0.1", ...headers, "content-length": String(Buffer.byteLength(body)) });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

/** Sends raw bytes and half-closes; reads the response to its end. */
function sendRaw(url: string, bytes: string): Promise<Shown> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.end(bytes));
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      resolve({ status: status === undefined ? "closed" : Number(status), headers: {}, text });
    });
  });
}

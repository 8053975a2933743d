/**
 * `npm run flame -- --name after`: two flame graphs of `serve` under load, docs/flame/<name>-read.svg of
 * `GET /orders/{id}` and <name>-order.svg of `POST /orders`. `--program ../earlier/bin/esimctl` takes those of another
 * checkout, `--folder` puts them elsewhere, `--requests` says how many there are of either (20,000).
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import Database from "better-sqlite3";
import { luhnDigit } from "../../../src/core/kernel/check-digits.ts";
import { httpLoad } from "../http-load.ts";
import { serveWithLog } from "../installation.ts";
import { NEW_ID } from "../load.ts";
import { flameGraph } from "./graph.ts";
import { type CpuProfile, framesOf } from "./profile.ts";

const checkout = join(import.meta.dirname, "..", "..", "..");
const SKU = "ES-GLB-1GB-7D";

const { values } = parseArgs({
  options: {
    name: { type: "string", default: "after" },
    program: { type: "string", default: join(checkout, "bin", "esimctl") },
    folder: { type: "string", default: join(checkout, "docs", "flame") },
    requests: { type: "string", default: "20000" },
  },
});
const program = resolve(values.program);
const requests = Number(values.requests);
const scratch = mkdtempSync(join(tmpdir(), "esimctl-flame-"));
const data = join(scratch, "data");
const env = { ...process.env, XDG_CONFIG_HOME: scratch, XDG_CACHE_HOME: scratch };

/** What a bench calls, and how often. */
interface Work {
  what: string;
  load(served: Served): Promise<Parameters<typeof httpLoad>[0]>;
}

interface Served {
  url: string;
  headers: Record<string, string>;
}

const works: Record<string, Work> = {
  read: {
    what: "GET /orders/{id}",
    async load({ url, headers }) {
      const path = `${url}/api/v1/orders/${await fulfilledOrder(url, headers)}`;
      return { url: path, headers, connections: 32, amount: requests };
    },
  },
  order: {
    what: "POST /orders",
    async load({ url, headers }) {
      const asked = { ...headers, "content-type": "application/json", "idempotency-key": NEW_ID };
      const body = JSON.stringify(await orderBody(url, headers));
      return {
        url: `${url}/api/v1/orders`,
        method: "POST",
        headers: asked,
        body,
        connections: 64,
        amount: requests,
      };
    },
  },
};

try {
  const client = await furnish();
  mkdirSync(values.folder, { recursive: true });
  for (const [name, work] of Object.entries(works)) {
    const svg = await graphOf(work, client);
    const file = join(values.folder, `${values.name}-${name}.svg`);
    writeFileSync(file, svg);
    console.log(`${file}: ${Math.round(svg.length / 1024)} kB`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

interface Client {
  client_id: string;
  client_secret: string;
}

/** Makes a data directory by the program's own commands: funds, and more stock than is ordered. */
async function furnish(): Promise<Client> {
  const stock = join(scratch, "stock.csv");
  writeFileSync(stock, stockCsv(2 * requests));
  await esimctl("init");
  await esimctl("partners", "create", "flame", "--name", "Flame", "--production");
  await esimctl("wallet", "credit", "--partner", "flame", "--amount", "9000000.00", "--currency", "AUD", "--yes");
  await esimctl("products", "import", join(checkout, "fixtures", "products.csv"), "--yes");
  await esimctl("stock", "import", stock, "--sku", SKU, "--yes");
  const made = await esimctl("credentials", "create", "--partner", "flame", "--live", "--json");
  // More than an operator can allow.
  const database = new Database(join(data, "esimctl.db"));
  database.exec("UPDATE partners SET rate_limit = 1000000000");
  database.close();
  // The documented output of `credentials create --json`.
  return JSON.parse(made) as Client;
}

async function esimctl(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, "--data", data], { env });
  return stdout;
}

function stockCsv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const digits = `8988239${String(row).padStart(11, "0")}`;
    return `${digits}${luhnDigit(digits)},smdp.example.net,FLAME-${row},`;
  });
  return `iccid,smdp_address,matching_id,confirmation_code\n${lines.join("\n")}\n`;
}

/** Serves under V8's profiler, warms up, and draws what ran while the rest of the requests came. */
async function graphOf({ what, load }: Work, client: Client): Promise<string> {
  const profiles = mkdtempSync(join(scratch, "profiles-"));
  const flags = ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const args = [...flags, program, "serve", "--data", data, "--port", "0", "--json"];
  const { child, url } = await serveWithLog(args, join(scratch, "serve.log"), env);
  const ended = once(child, "close");
  const span = { from: 0, to: 0 };
  // V8's profiles are of the same clock.
  const now = () => Number(process.hrtime.bigint() / 1_000n);
  try {
    const asked = await load({ url, headers: { authorization: `Bearer ${await tokenOf(url, client)}` } });
    await httpLoad({ ...asked, amount: Math.ceil(requests / 4) });
    span.from = now();
    await httpLoad(asked);
    span.to = now();
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
  const frames = profiledIn(profiles).map((profile) => framesOf(profile, span));
  const total = frames.reduce((sum, frame) => sum + frame.total, 0);
  const threads = frames.map((frame, at) => ({ ...frame, name: at === 0 ? "event loop" : `thread ${at}` }));
  const callees = new Map(threads.map((frame) => [frame.name, frame]));
  return flameGraph({ name: "all", place: "", total, callees }, `${what}, ${values.name}`);
}

/** One profile a thread, the main one first: the last, as the launcher, which became another program, may leave one. */
function profiledIn(folder: string): CpuProfile[] {
  // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile
  const threadOf = (name: string) => Number(name.split(".")[4]);
  const lasts = new Map(
    readdirSync(folder)
      .toSorted()
      .map((name) => [threadOf(name), name]),
  );
  const files = [...lasts.values()].sort((one, other) => threadOf(one) - threadOf(other));
  // V8's documented form.
  return files.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile);
}

async function tokenOf(url: string, { client_id, client_secret }: Client): Promise<string> {
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
  const response = await fetch(`${url}/api/v1/oauth/token`, { method: "POST", body: form });
  // Contract: Token.
  return ((await response.json()) as { access_token: string }).access_token;
}

async function orderBody(url: string, headers: Record<string, string>) {
  const response = await fetch(`${url}/api/v1/products?limit=100`, { headers });
  // Contract: Products.
  const { data: products } = (await response.json()) as { data: { id: string; sku: string }[] };
  const product_id = products.find(({ sku }) => sku === SKU)?.id;
  return { line_items: [{ product_id, quantity: 1 }] };
}

/** An order of one eSIM that is delivered. */
async function fulfilledOrder(url: string, headers: Record<string, string>): Promise<string> {
  const asked = { ...headers, "content-type": "application/json", "idempotency-key": "flame-read" };
  const body = JSON.stringify(await orderBody(url, headers));
  const response = await fetch(`${url}/api/v1/orders`, { method: "POST", headers: asked, body });
  // Contract: Orders.
  const { id } = (await response.json()) as { id: string };
  for (;;) {
    const read = await fetch(`${url}/api/v1/orders/${id}`, { headers });
    const { status } = (await read.json()) as { status: string };
    if (status === "fulfilled") return id;
  }
}

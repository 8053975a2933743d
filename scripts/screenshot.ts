/** `npm run screenshot`: makes docs/portal.png, the portal's overview of a demo that has sold eSIMs for a month. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = join(import.meta.dirname, "..");
const program = join(root, "bin", "esimctl");
const image = join(root, "docs", "portal.png");

/** It is part of a page that people load. */
const MOST_BYTES = 200 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS = 29;
/** Orders on each of these days, again and again: no two weeks of a shop are alike. */
const ORDERS = [1, 2, 1, 3, 2, 4, 3, 1, 0, 2, 3, 2, 5];
const SKUS = ["ES-EU-5GB-30D", "ES-EU-1GB-7D", "ES-GLB-1GB-7D", "ES-JP-10GB-30D", "ES-US-5GB-30D"];

const folder = mkdtempSync(join(tmpdir(), "esimctl-screenshot-"));
const data = join(folder, "data");
const clock = join(folder, "clock");
/** The demo begins a month ago and comes up to now. */
const beDaysAgo = (days: number) => writeFileSync(clock, String(-days * DAY_MS));
const preload = pathToFileURL(join(root, "test", "support", "moved-clock.mjs")).href;
const env = { ...process.env, NODE_OPTIONS: `--import=${preload}`, MOVED_CLOCK: clock };

try {
  execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { stdio: "inherit" });
  beDaysAgo(DAYS);
  execFileSync(process.execPath, [program, "init", "--demo", "--data", data], { env, stdio: "ignore" });
  await withServer(async (url) => {
    await sellForAMonth(url);
    await takePicture(url);
  });
  const { size } = statSync(image);
  if (size > MOST_BYTES) throw new Error(`${image} has ${size} bytes, more than ${MOST_BYTES}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Serves the demo while `work` runs. */
async function withServer(work: (url: string) => Promise<void>): Promise<void> {
  const flags = ["serve", "--data", data, "--port", "0", "--json"];
  const server = spawn(process.execPath, [program, ...flags], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const { event, url } = JSON.parse(line);
      if (event !== "listening") continue;
      server.stdout.resume();
      await work(url);
      return;
    }
    throw new Error("the demo is not served");
  } finally {
    const ended = once(server, "exit");
    server.kill();
    await ended;
  }
}

async function sellForAMonth(url: string): Promise<void> {
  const { credentials } = kept();
  const { client_id, client_secret } = credentials.find(({ environment }) => environment === "production") ?? {};
  const json = { "content-type": "application/json" };
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: "POST",
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  let placed = 0;
  for (let ago = DAYS; ago >= 0; ago--) {
    beDaysAgo(ago);
    // The server looks at its clock's file every 20 ms.
    await pause(60);
    const grant = { grant_type: "client_credentials", client_id, client_secret };
    const authorization = `Bearer ${(await post("/oauth/token", grant)).access_token}`;
    const products = await fetch(`${url}/api/v1/products?limit=100`, { headers: { authorization } });
    const { data: all } = await products.json();
    for (let order = 0; order < (ORDERS[ago % ORDERS.length] ?? 0); order++) {
      const sku = SKUS[placed++ % SKUS.length];
      const { id } = all.find((one: { sku: string }) => one.sku === sku);
      const lines = { line_items: [{ product_id: id, quantity: 1 + (placed % 3) }] };
      await post("/orders", lines, { authorization, "idempotency-key": `picture-${placed}` });
    }
  }
}

async function takePicture(url: string): Promise<void> {
  const owner = kept().users.find(({ face }) => face === "portal");
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: "en-GB" });
    await page.goto(`${url.replace("127.0.0.1", "localhost")}/portal`);
    await page.getByLabel("E-mail address").fill(owner?.email ?? "");
    await page.getByLabel("Password").fill(owner?.password ?? "");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.screenshot({ path: image });
  } finally {
    await browser.close();
  }
}

interface Kept {
  credentials: { environment: string; client_id: string; client_secret: string }[];
  users: { face: string; email: string; password: string }[];
}

/** What `init --demo` keeps beside its data. */
function kept(): Kept {
  return JSON.parse(readFileSync(join(data, "demo-credentials.json"), "utf8"));
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { openOrCreate } from "../../src/cli/place/local-store.ts";
import { createCredential } from "../../src/core/credentials/create.ts";
import type { PartnerId, ProductId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { dataDirectory } from "../../src/core/platform/data-directory.ts";
import type { Store } from "../../src/core/store/store.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";
import { prepareStore } from "../../src/daemon/serve/prepare-store.ts";
import { addProducts, addStock } from "../support/catalog.ts";
import { program } from "../support/process.ts";
import type { Meter } from "./bench.ts";
import { fillOrders } from "./fill-orders.ts";

/** Above what any machine sends in a minute. */
const NO_LIMIT = 1_000_000_000;
/** eSIMs that are put in stock at once. */
const BATCH = 1_000;

/** A data directory that the built program serves. */
export interface Installation {
  data: string;
  clientId: string;
  clientSecret: string;
  partnerId: PartnerId;
  productId: ProductId;
}

/** Makes one with 60 products, a partner with enough funds, `stock` eSIMs of the first product, and old orders. */
export async function install(data: string, { orders, stock }: { orders: number; stock: number }) {
  const place = { kind: "directory", path: data, given: [] } as const;
  const { store } = await openOrCreate(place, { clock: systemClock, ids: randomIds() });
  const actor = "bench";
  await prepareStore(store);
  const { id: partnerId } = await store.write(createPartner, { slug: "bench", name: "Bench", production: true, actor });
  await store.write(async ({ db, t }) => {
    await db.update(t.partners).set({ rate_limit: NO_LIMIT }).where(eq(t.partners.id, partnerId));
  }, null);
  const amount = minorUnits(1_000_000_000_00);
  await store.write(creditWallet, { partnerId, amount, currency: "AUD", actor });
  const skus = Array.from({ length: 60 }, (_, index) => ({ sku: `PLAN-${index}`, price_cents: 250 + index }));
  const productId = (await addProducts(store, skus))["PLAN-0"];
  if (productId === undefined) throw new Error("the catalog was not imported");
  await addStockInBatches(store, stock);
  const made = await store.write(createCredential, { partner: "bench", live: true, actor });
  await store.close();
  fillOrders(dataDirectory(data).databaseFile, { partnerId, productId, orders });
  return { data, clientId: made.client_id, clientSecret: made.client_secret, partnerId, productId };
}

/** Puts eSIMs of the first product in stock. */
export async function addStockInBatches(store: Store, count: number): Promise<void> {
  for (let added = 0; added < count; added += BATCH) await addStock(store, "PLAN-0", Math.min(BATCH, count - added));
}

/** A process that serves an installation. */
export interface Served {
  url: string;
  token: string;
  /** From its start until it listened (ms). */
  readyMs: number;
  /** Megabytes of memory that it occupies now. */
  memory(): Promise<number>;
  /** Undefined where the system does not say. */
  cpu: Meter | undefined;
  stop(): Promise<void>;
}

/** Serves an installation by the built program, as its users do; the log goes to a file beside the data. */
export async function serveInstallation(
  { data, clientId, clientSecret }: Installation,
  flags: readonly string[] = [],
): Promise<Served> {
  const from = performance.now();
  const args = [program, "serve", "--data", data, "--port", "0", "--json", ...flags];
  const { child, url } = await serveWithLog(args, `${data}.log`);
  const readyMs = performance.now() - from;
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId });
  form.set("client_secret", clientSecret);
  const response = await fetch(`${url}/api/v1/oauth/token`, { method: "POST", body: form });
  // Contract: Token.
  const { access_token: token } = (await response.json()) as { access_token: string };
  return {
    url,
    token,
    readyMs,
    memory: () => residentMb(child.pid ?? 0),
    cpu: cpuOf(child.pid ?? 0),
    async stop() {
      const ended = once(child, "close");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Places orders of one eSIM, which are delivered at once; the ID of the last. */
export async function placeOrders({ productId }: Installation, { url, token }: Served, count: number): Promise<string> {
  const body = JSON.stringify({ line_items: [{ product_id: productId, quantity: 1 }] });
  let id = "";
  for (let number = 0; number < count; number++) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const keyed = { ...headers, "idempotency-key": `read-${number}` };
    const response = await fetch(`${url}/api/v1/orders`, { method: "POST", headers: keyed, body });
    if (response.status !== 201) throw new Error(`an order was answered with ${response.status}`);
    // Contract: Order.
    ({ id } = (await response.json()) as { id: string });
  }
  return id;
}

/** Starts Node with arguments that serve; resolves once the log in the file says where. */
export async function serveWithLog(
  args: readonly string[],
  log: string,
  env = process.env,
): Promise<{ child: ChildProcess; url: string }> {
  const output = openSync(log, "w");
  const child = spawn(process.execPath, args, { stdio: ["ignore", output, "inherit"], env });
  closeSync(output);
  for (;;) {
    const url = /"event":"listening","url":"([^"]+)"/.exec(readFileSync(log, "utf8"))?.[1];
    if (url !== undefined) return { child, url };
    if ((child.exitCode ?? child.signalCode) !== null) throw new Error("serve ended before it listened");
    await pause(LOOK_MS);
  }
}

/** How often the log is looked at: little of a start. */
const LOOK_MS = 5;

/** Parts of a second in which Linux counts processor time. */
const TICKS = 100;

/** The processor time of a process, all its threads; undefined where the system does not say. */
export function cpuOf(pid: number): Meter | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  return () => {
    // What follows the name, which is in brackets: the state, and from the 12th on time in the program and the kernel.
    const fields = readFileSync(file, "utf8").split(") ")[1]?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / TICKS;
  };
}

/** What a process occupies, as `ps` says. */
export async function residentMb(pid: number): Promise<number> {
  const ps = spawn("ps", ["-o", "rss=", "-p", String(pid)], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  ps.stdout.on("data", (chunk: Buffer) => {
    text += String(chunk);
  });
  await once(ps, "close");
  return Number(text) / 1024;
}

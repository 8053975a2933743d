import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { eq } from "drizzle-orm";
import { openOrCreate } from "../../src/cli/place/local-store.ts";
import { createCredential } from "../../src/core/credentials/create.ts";
import type { PartnerId, ProductId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { dataDirectory } from "../../src/core/store/data-directory.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";
import { prepareStore } from "../../src/daemon/serve/prepare-store.ts";
import { addProducts, addStock } from "../support/catalog.ts";
import { program } from "../support/process.ts";
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
  for (let added = 0; added < stock; added += BATCH) await addStock(store, "PLAN-0", Math.min(BATCH, stock - added));
  const made = await store.write(createCredential, { partner: "bench", live: true, actor });
  await store.close();
  fillOrders(dataDirectory(data).databaseFile, { partnerId, productId, orders });
  return { data, clientId: made.client_id, clientSecret: made.client_secret, partnerId, productId };
}

/** A process that serves an installation. */
export interface Served {
  url: string;
  token: string;
  /** From its start until it listened (ms). */
  readyMs: number;
  /** Megabytes of memory that it occupies now. */
  memory(): Promise<number>;
  stop(): Promise<void>;
}

/** Serves an installation by the built program, as its users do. */
export async function serveInstallation(
  { data, clientId, clientSecret }: Installation,
  flags: readonly string[] = [],
): Promise<Served> {
  const from = performance.now();
  const args = [program, "serve", "--data", data, "--port", "0", "--json", ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const url = await addressIn(child.stdout);
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
    async stop() {
      const ended = once(child, "close");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The address in the log's line about it; the lines after it are read and dropped. */
export function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface(output)
    .on("line", (line) => {
      const url = /"event":"listening","url":"([^"]+)"/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    })
    .once("close", () => reject(new Error("serve ended before it listened")));
  return promise;
}

/** What a process occupies, as `ps` says. */
async function residentMb(pid: number): Promise<number> {
  const ps = spawn("ps", ["-o", "rss=", "-p", String(pid)], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  ps.stdout.on("data", (chunk: Buffer) => {
    text += String(chunk);
  });
  await once(ps, "close");
  return Number(text) / 1024;
}

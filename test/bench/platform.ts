import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createCredential } from "../../src/core/credentials/create.ts";
import { createTokens, type Tokens } from "../../src/core/credentials/tokens.ts";
import type { PartnerId, ProductId } from "../../src/core/kernel/brand.ts";
import { type Clock, systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { openBeside, openStore } from "../../src/core/store/open/open.ts";
import type { StoreBase } from "../../src/core/store/open/store-over.ts";
import type { Store, Tx } from "../../src/core/store/store.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";
import type { App } from "../../src/daemon/context/fastify.ts";
import { buildApp } from "../../src/daemon/http/app.ts";
import { createLogger } from "../../src/daemon/log/logger.ts";
import { createMetrics } from "../../src/daemon/metrics/metrics.ts";
import { memoryCounters } from "../../src/daemon/plugins/rate-windows.ts";
import { allRoutes } from "../../src/daemon/routes/by-resource.ts";
import { bearerTokens } from "../../src/daemon/serve/front.ts";
import { listen } from "../../src/daemon/serve/listen.ts";
import { prepareStore } from "../../src/daemon/serve/prepare-store.ts";
import { commands } from "../../src/daemon/writer/commands.ts";
import { startWriter } from "../../src/daemon/writer/start-writer.ts";
import { addProducts } from "../support/catalog.ts";

/** Far above what any machine sends in a minute: limits are counted, no caller is refused. */
const NO_LIMIT = 1_000_000_000;
const actor = "bench";

/** A database as production has it (SQLite on this disk), with 60 products and a partner with enough funds. */
export interface BenchStore {
  store: Store;
  file: string;
  partnerId: PartnerId;
  productId: ProductId;
  close(): Promise<void>;
}

/** Opens a fresh one in a temporary directory; `close` removes it. */
export async function benchStore(): Promise<BenchStore> {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-bench-"));
  const file = join(folder, "esimctl.db");
  const ids = randomIds();
  const dependencies = { clock: systemClock, ids, masterKey: ids.bytes(32) };
  const hands = await openStore({ file, create: true }, dependencies);
  const { products, ...partners } = await furnish(hands, ["bench"]);
  const store = withHands(await openAsServed(file, dependencies), hands);
  const [partnerId] = partners.partnerIds;
  const productId = products["PLAN-0"];
  if (partnerId === undefined || productId === undefined) throw new Error("the store was not furnished");
  async function close(): Promise<void> {
    await store.close();
    await hands.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return { store, file, partnerId, productId, close };
}

/** As `serve` opens it: its writes are made in a thread of their own. */
async function openAsServed(file: string, dependencies: StoreBase): Promise<Store> {
  const { masterKey } = dependencies;
  const writer = await startWriter({ file, create: false, verify: false, masterKey, keys: { file: null, given: [] } });
  return openBeside(file, writer.connect, dependencies);
}

/** The same; commands of the terminal are written by `hands`, as by another process. */
function withHands(served: Store, hands: Store): Store {
  const daemons = new Set<unknown>(Object.values(commands));
  return {
    ...served,
    write: (command, input, requestId, owner) =>
      (daemons.has(command) ? served : hands).write(command, input, requestId, owner),
  };
}

/** Puts 60 products into an empty store, by SKU, and partners with enough funds whose rate limit no load reaches. */
export async function furnish(
  store: Store,
  slugs: readonly string[],
): Promise<{ partnerIds: PartnerId[]; products: Record<string, ProductId> }> {
  await prepareStore(store);
  const amount = minorUnits(1_000_000_000_00);
  const partnerIds: PartnerId[] = [];
  for (const slug of slugs) {
    const { id: partnerId } = await store.write(createPartner, { slug, name: slug, production: true, actor });
    await store.write(creditWallet, { partnerId, amount, currency: "AUD", actor });
    partnerIds.push(partnerId);
  }
  await store.write(raiseLimits, null);
  const skus = Array.from({ length: 60 }, (_, index) => ({ sku: `PLAN-${index}`, price_cents: 250 + index }));
  return { partnerIds, products: await addProducts(store, skus) };
}

/** Beyond what the operator can set. */
async function raiseLimits(tx: Tx): Promise<void> {
  await tx.db.update(tx.t.partners).set({ rate_limit: NO_LIMIT });
}

/** An access token of a partner for production. */
export async function tokenOf({ store, tokens }: { store: Store; tokens: Tokens }, partner: string): Promise<string> {
  const made = await store.write(createCredential, { partner, live: true, actor });
  const issued = await tokens.issue({ clientId: made.client_id, clientSecret: made.client_secret, ip: "127.0.0.1" });
  return issued.access_token;
}

/**
 * The whole HTTP side over a store: authentication, limits, validation, metrics, a log that is discarded. Requests are
 * counted in the minutes of `limitsClock`.
 */
export async function servePlatform(
  { store }: BenchStore,
  limitsClock: Clock = systemClock,
): Promise<{ app: App; url: string; token: string }> {
  const ids = randomIds();
  const addresses = { publicUrl: "http://esim.test", docsUrl: "http://esim.test/docs" };
  const tokens = createTokens({ store, clock: systemClock, ids, issuer: addresses.publicUrl });
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const app = buildApp(
    { store, clock: systemClock, ids, addresses },
    {
      authenticate: bearerTokens(tokens),
      counters: memoryCounters(limitsClock),
      trustProxy: false,
      logger: await createLogger("info", { pretty: false, destination: nowhere }),
      metrics: createMetrics(),
      routes: await allRoutes(tokens),
    },
  );
  const url = await listen(app, { host: "127.0.0.1", port: 0 });
  return { app, url, token: await tokenOf({ store, tokens }, "bench") };
}

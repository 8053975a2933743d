import { join } from "node:path";
import { createCredential } from "../../src/core/credentials/create.ts";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { updatePartner } from "../../src/core/partners/update.ts";
import { dataDirectory, prepareDataDirectory } from "../../src/core/platform/data-directory.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import type { Store } from "../../src/core/store/store.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";
import { prepareStore } from "../../src/daemon/serve/prepare-store.ts";
import { addProducts, addStock } from "./catalog.ts";
import type { Served } from "./daemon.ts";
import { call, type Reply } from "./platform.ts";
import { copyEmptyDatabase } from "./store.ts";

/** The rate limit of the shop's partner: the highest there is. */
const RATE_LIMIT = 10_000_000;

/** A data directory ready to be served, and what its one partner, `acme`, needs to call. */
export interface Shop {
  data: string;
  /** What a daemon serves it from. */
  served: Served;
  clientId: string;
  clientSecret: string;
  /** By sku. */
  products: Record<string, ProductId>;
}

/** The file of the key that seals what a daemon serves. */
export function keyFileOf(served: Served): string {
  return "keyFile" in served ? served.keyFile : dataDirectory(served.data).keyFile;
}

export interface ShopOptions {
  /** The data directory is made in here. */
  folder: string;
  /** The PostgreSQL database that holds it; left out: the directory's own. */
  url?: string | undefined;
  /** eSIMs in stock by sku. */
  stock: Record<string, number>;
  priceCents: number;
  fundsCents: number;
  /** Its credential is one of the sandbox. */
  sandbox?: boolean;
}

/** A database with a catalog, stock, and one funded partner with a credential, by default a live one; closed again. */
export async function openShop({ folder, url, stock, priceCents, fundsCents, sandbox }: ShopOptions): Promise<Shop> {
  const data = join(folder, "data");
  const ids = randomIds();
  const { databaseFile: file, keyFile } = prepareDataDirectory(data, ids);
  // A copy of an empty database: migrating one is most of the work of making a shop.
  if (url === undefined) await copyEmptyDatabase(file);
  const location = url === undefined ? { file, create: false } : { url };
  const served = url === undefined ? { data } : { database: url, keyFile };
  const store = await openStore(location, { clock: systemClock, ids, masterKey: readMasterKey(keyFile) });
  try {
    await prepareStore(store);
    const credential = await addPartner(store, { fundsCents, live: sandbox !== true });
    const skus = Object.keys(stock);
    const products = await addProducts(
      store,
      skus.map((sku) => ({ sku, price_cents: priceCents })),
    );
    for (const sku of skus) await addStock(store, sku, stock[sku] ?? 0);
    return { data, served, products, ...credential };
  } finally {
    await store.close();
  }
}

async function addPartner(
  store: Store,
  { fundsCents, live }: { fundsCents: number; live: boolean },
): Promise<Pick<Shop, "clientId" | "clientSecret">> {
  const actor = "test";
  const { id } = await store.write(createPartner, { slug: "acme", name: "Acme", production: true, actor });
  await store.write(updatePartner, { slug: "acme", rateLimit: RATE_LIMIT, actor });
  await store.write(creditWallet, { partnerId: id, amount: minorUnits(fundsCents), currency: "AUD", actor });
  const credential = await store.write(createCredential, { partner: "acme", live, actor });
  return { clientId: credential.client_id, clientSecret: credential.client_secret };
}

/** The response of the daemon at `url` to a token request of the shop's partner. */
export async function requestToken({ clientId, clientSecret }: Shop, url: string): Promise<Reply> {
  const grant = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const headers = { "content-type": "application/json" };
  return call(`${url}/api/v1/oauth/token`, { method: "POST", headers, body: JSON.stringify(grant) });
}

/** An access token of the shop's partner; fetched from the daemon at `url`. */
export async function shopToken(shop: Shop, url: string): Promise<string> {
  return (await requestToken(shop, url)).body.access_token;
}

/** Works on the database of a shop that is on PostgreSQL, past its daemons. */
export async function withStoreOf<T>({ served }: Shop, work: (store: Store) => Promise<T>): Promise<T> {
  if (!("database" in served)) throw new Error("the shop is not on PostgreSQL");
  const masterKey = readMasterKey(served.keyFile);
  const store = await openStore({ url: served.database }, { clock: systemClock, ids: randomIds(), masterKey });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

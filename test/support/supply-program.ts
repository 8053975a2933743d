/**
 * The part of a node that buys, as a process of its own for tests that kill it: `node supply-program.ts OPTIONS`. Asks
 * for what OPTIONS name as a partner does, prints "asked" and what it got, and works until it is killed. To start a
 * whole daemon takes eight times the work.
 */
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { createOrder } from "../../src/core/orders/create.ts";
import { releaseLeases } from "../../src/core/platform/lease.ts";
import { type Location, openStore } from "../../src/core/store/open/open.ts";
import { isUnavailable } from "../../src/core/store/problems.ts";
import { createTopup } from "../../src/core/topups/create.ts";
import { fittingProducts } from "../../src/core/topups/fitting.ts";
import { createMailer } from "../../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../../src/daemon/gateways/signed-exchange.ts";
import { createProviders } from "../../src/daemon/gateways/suppliers/providers.ts";
import { createSupplierGateway } from "../../src/daemon/gateways/suppliers.ts";
import { topupOffersOf } from "../../src/daemon/routes/topup-offers.ts";
import { createFulfillment } from "../../src/daemon/workers/fulfillment.ts";
import { startPool } from "../../src/daemon/workers/pool.ts";
import { createSupplies } from "../../src/daemon/workers/supplier-requests.ts";
import { createTopups } from "../../src/daemon/workers/topups.ts";

/** What is asked for under a key: one unit of a product, or a top-up of an eSIM with the first product offered. */
export type Wanted = { key: string } & ({ product: string } | { iccid: string });

/** What a request got. */
export interface Got {
  id: string;
  replayed: boolean;
}

/** Where the process works, for whom, and what it asks for first. */
export interface SupplyOptions {
  location: Location;
  /** Base64. */
  masterKey: string;
  partnerId: PartnerId;
  wanted: readonly Wanted[];
}

const options: SupplyOptions = JSON.parse(process.argv[2] ?? "");
const { location, partnerId } = options;
const masterKey = Buffer.from(options.masterKey, "base64");
const { now } = systemClock;
const store = await openStore(location, { clock: systemClock, ids: randomIds(), masterKey });
// As a daemon does that has the database to itself.
if ("file" in location) await store.write(releaseLeases, null);

const line = (...words: unknown[]) => console.error(...words);
const log = { error: line, warn() {}, info() {} };
const providers = createProviders({ store, now });
const publicUrl = "http://esim.test";
const gateway = createSupplierGateway({
  exchange: createSignedExchange(now),
  mailer: createMailer(undefined),
  publicUrl,
});
const pools = [
  createFulfillment({ store, log }),
  createSupplies({ store, gateway, providers, log }),
  createTopups({ store, providers, log }),
];
for (const pool of pools) store.onSignal("fulfillment", startPool(pool, { log }).wake);

const offers = topupOffersOf({ store, clock: systemClock });
const got: Got[] = [];
for (const one of options.wanted) got.push(await answered(one));
console.info(`asked ${JSON.stringify(got)}`);

/** Asks again where the database is unavailable, as clients do: on a busy machine locks take too long. */
async function answered(wanted: Wanted): Promise<Got> {
  for (;;) {
    const got = await ask(wanted).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      return null;
    });
    if (got !== null) return got;
  }
}

async function ask(wanted: Wanted): Promise<Got> {
  const owner = { partnerId, environment: "production", actor: "test", credential: null } as const;
  const payloadHash = wanted.key;
  if ("iccid" in wanted) {
    const { iccid, key } = wanted;
    const [first] = await offers.products(await store.read(fittingProducts, { ...owner, iccid }));
    const asked = { ...owner, iccid, key, payloadHash, productId: String(first?.id), maxTotal: null, scenario: null };
    const offer = await offers.offer({ ...asked, offer: null });
    const { topup, replayed } = await store.write(createTopup, { ...asked, offer });
    return { id: topup.id, replayed };
  }
  const key = { space: "single", value: wanted.key } as const;
  const lines = [{ product_id: wanted.product, quantity: 1 }];
  const shape = { lines, activationRequests: [], metadata: {}, customer: null };
  const { order, replayed } = await store.write(createOrder, { ...owner, ...shape, key, payloadHash });
  return { id: order.id, replayed };
}

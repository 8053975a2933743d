/**
 * One step of a worker as a process of its own, for tests that stop it: `node worker-program.ts OPTIONS`. Prints
 * "begun" and how much it claimed, and "recorded" once all of that is.
 */
import { randomIds } from "../../src/core/kernel/ids.ts";
import { type Location, openStore } from "../../src/core/store/open/open.ts";
import type { Store } from "../../src/core/store/store.ts";
import { createCarrierGateway } from "../../src/daemon/gateways/carriers.ts";
import { createMailer } from "../../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../../src/daemon/gateways/signed-exchange.ts";
import { createProviders } from "../../src/daemon/gateways/suppliers/providers.ts";
import { createSupplierGateway } from "../../src/daemon/gateways/suppliers.ts";
import { createExchanges } from "../../src/daemon/workers/activations.ts";
import type { Pool } from "../../src/daemon/workers/pool.ts";
import { createSupplies } from "../../src/daemon/workers/supplier-requests.ts";

/** What the process works on, and the time of its clock (ms). */
export interface WorkerOptions {
  worker: "supplies" | "activations";
  location: Location;
  /** Base64. */
  masterKey: string;
  now: number;
}

const options: WorkerOptions = JSON.parse(process.argv[2] ?? "");
const now = () => options.now;
const publicUrl = "http://esim.test";
const line = (...words: unknown[]) => console.error(...words);
const log = { error: line, warn: line, info() {} };

const store = await openStore(options.location, {
  clock: { now },
  ids: randomIds(),
  masterKey: Buffer.from(options.masterKey, "base64"),
});
const { pool, close } = options.worker === "supplies" ? supplies(store) : activations(store);
console.info(`begun ${await pool.step(new AbortController().signal)}`);
await pool.idle();
console.info("recorded");
await close();
await store.close();

interface Running {
  pool: Pool;
  close(): Promise<void>;
}

function supplies(store: Store): Running {
  const exchange = createSignedExchange(now);
  const gateway = createSupplierGateway({ exchange, mailer: createMailer(undefined), publicUrl });
  const providers = createProviders({ store, now });
  const close = async () => void (await Promise.all([exchange.close(), providers.close()]));
  return { pool: createSupplies({ store, gateway, providers, log }), close };
}

function activations(store: Store): Running {
  const gateway = createCarrierGateway({ now, publicUrl });
  return { pool: createExchanges({ store, gateway, log }), close: () => gateway.close() };
}

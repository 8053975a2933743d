import type { Logger } from "pino";
import type { Topic } from "../../core/store/store.ts";
import type { DaemonContext } from "../context/context.ts";
import { createCarrierGateway } from "../gateways/carriers.ts";
import { createMailer } from "../gateways/mailer.ts";
import { createSignedExchange } from "../gateways/signed-exchange.ts";
import { createSupplierGateway } from "../gateways/suppliers.ts";
import { createWebhookSender } from "../gateways/webhook-sender.ts";
import { startActivations } from "./activations.ts";
import { cronRun, expireEsims, purgeOldDeliveries, purgeSandboxOrders, signGrownHeads } from "./cron.ts";
import { startDeliveries } from "./deliveries.ts";
import { createFulfilment } from "./fulfilment.ts";
import { type Step, startWorker, type Worker } from "./loop.ts";
import { announceEsims, announcePassports, announceProducts } from "./notices.ts";
import { startPool } from "./pool.ts";
import { settleSandbox } from "./sandbox.ts";
import { createSupplies, reviewOverdue } from "./supplies.ts";

/** What all workers need. */
export interface WorkerContext extends DaemonContext {
  log: Logger;
  allowPrivateWebhooks: boolean;
  /** The SMTP server for mail to suppliers; left out: none. */
  smtpUrl: string | undefined;
  /** Whether mail may go beyond this machine without TLS. */
  insecure: boolean;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Starts everything that runs by itself; `stop` lets each finish what is in flight, 25 s at most. */
export function startWorkers(context: WorkerContext): { wake(topic: Topic): void; stop(): Promise<void> } {
  const { store, log, clock, addresses, smtpUrl, insecure, isClockOff } = context;
  const { publicUrl } = addresses;
  const loop = (name: string, pollMs: number, step: Step) => startWorker({ name, pollMs, step, log });
  const sender = createWebhookSender({ allowPrivate: context.allowPrivateWebhooks });
  const carriers = createCarrierGateway({ now: clock.now, publicUrl });
  const exchange = createSignedExchange(clock.now);
  const mailer = createMailer(smtpUrl, { insecure });
  const suppliers = createSupplierGateway({ exchange, mailer, publicUrl });
  const before = (signal: AbortSignal) => reviewOverdue(store, signal);

  const woken: [Topic, Worker][] = [
    ["fulfilment", startPool(createFulfilment({ store, log }), { log, isClockOff })],
    ["fulfilment", startPool(createSupplies({ store, log, gateway: suppliers }), { log, before, isClockOff })],
    ["deliveries", startDeliveries({ ...context, sender, publicUrl })],
    ["activations", startActivations({ store, gateway: carriers, log, isClockOff })],
    ["sandbox", loop("sandbox clocks", SECOND_MS, (signal) => settleSandbox({ store }, signal))],
  ];
  const polling = [
    loop("webhook retention", HOUR_MS, (signal) =>
      cronRun(store, "webhook_retention", () => purgeOldDeliveries({ store }, signal)),
    ),
    loop("sandbox retention", HOUR_MS, (signal) =>
      cronRun(store, "sandbox_retention", () => purgeSandboxOrders({ store }, signal)),
    ),
    loop("head signing", HOUR_MS, (signal) => cronRun(store, "head_signing", () => signGrownHeads({ store }, signal))),
    loop("expiry", MINUTE_MS, (signal) => cronRun(store, "esim_expiry", () => expireEsims({ store }, signal))),
    loop("expiry notices", MINUTE_MS, (signal) =>
      cronRun(store, "esim_notices", () => announceEsims({ store }, signal)),
    ),
    loop("passport notices", HOUR_MS, (signal) =>
      cronRun(store, "passport_notices", () => announcePassports({ store }, signal)),
    ),
    loop("product events", SECOND_MS, (signal) => announceProducts({ store }, signal)),
  ];
  const stopListening = woken.map(([topic, worker]) => store.onSignal(topic, worker.wake));

  return {
    wake(topic) {
      for (const [its, worker] of woken) if (its === topic) worker.wake();
    },
    async stop() {
      for (const stop of stopListening) stop();
      await Promise.all([...woken.map(([, worker]) => worker), ...polling].map((worker) => worker.stop()));
      await exchange.close();
      mailer.close();
    },
  };
}

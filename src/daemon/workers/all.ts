import { hostname } from "node:os";
import type { Logger } from "pino";
import { partnersToSettle, settleStep } from "../../core/sandbox/settle.ts";
import type { CronJob } from "../../core/store/schema/values.ts";
import type { Store, Topic } from "../../core/store/store.ts";
import type { DaemonContext } from "../context/context.ts";
import { createCarrierGateway } from "../gateways/carriers.ts";
import { createMailer } from "../gateways/mailer.ts";
import { createSignedExchange } from "../gateways/signed-exchange.ts";
import { createProviders, type Providers } from "../gateways/suppliers/providers.ts";
import { createSupplierGateway } from "../gateways/suppliers.ts";
import { createWebhookSender } from "../gateways/webhook-sender.ts";
import { startActivations } from "./activations.ts";
import { createAlerts } from "./alerts.ts";
import { createBalances } from "./balances.ts";
import { expireEsims, purgeOldDeliveries, purgeSandboxOrders, signGrownHeads } from "./cron.ts";
import { type Cron, ownCron, sharedCron } from "./cron-lease.ts";
import { startDeliveries } from "./deliveries.ts";
import { createLooks } from "./esim-looks.ts";
import { createFulfillment } from "./fulfillment.ts";
import { createInvitationMails } from "./invitations.ts";
import { drained, type Step, startWorker, type Worker } from "./loop.ts";
import { announceEsims, announcePassports, announceProducts } from "./notices.ts";
import { startPool } from "./pool.ts";
import { createSupplies, reviewOverdue } from "./supplier-requests.ts";
import { createTopups } from "./topups.ts";
import { createTravelerMails } from "./traveler-mails.ts";

/** What all workers need. */
export interface WorkerContext extends DaemonContext {
  log: Logger;
  /** The ID of this node, and whether no other one can serve the database. */
  node: string;
  alone: boolean;
  allowPrivateWebhooks: boolean;
  /** The SMTP server for mail to suppliers, operators, invited users and travelers; left out: none. */
  smtpUrl: string | undefined;
  /** Whether mail may go beyond this machine without TLS. */
  insecure: boolean;
  /** The directory whose room is watched; left out: none. */
  dataDirectory?: string | undefined;
}

const SECOND_MS = 1_000;
/** How often what is wrong is compared with what was raised. */
const ALERTS_MS = 10_000;
/** How soon an invitation or an eSIM is mailed, also what the terminal wrote. */
const MAILS_MS = 5_000;
const MINUTE_MS = 60_000;
/** How often providers are asked what their accounts hold. */
const BALANCES_MS = 5 * MINUTE_MS;
const HOUR_MS = 3_600_000;

/** All workers of a node. */
export interface Workers {
  wake(topic: Topic): void;
  /** Whether this node runs the jobs of the calendar. */
  runsCron(): boolean;
  stop(): Promise<void>;
}

/** Starts everything that runs by itself; `stop` lets each finish what is in flight, 25 s at most. */
export function startWorkers(context: WorkerContext): Workers {
  const { store, log, clock, addresses, smtpUrl, insecure, isClockOff } = context;
  const { publicUrl } = addresses;
  // By a wrong clock eSIMs of the sandbox would expire early, and deliveries of events would be due late.
  const loop = (name: string, pollMs: number, step: Step) => startWorker({ name, pollMs, step, log, isClockOff });
  const sender = createWebhookSender({ allowPrivate: context.allowPrivateWebhooks });
  const carriers = createCarrierGateway({ now: clock.now, publicUrl });
  const exchange = createSignedExchange(clock.now);
  const mailer = createMailer(smtpUrl, { insecure });
  const mailing = { ...context, mailer: smtpUrl === undefined ? null : mailer, publicUrl };
  const providers = createProviders({ store, now: clock.now });
  const suppliers = createSupplierGateway({ exchange, mailer, publicUrl });
  const sending = {
    mailer,
    sender: createWebhookSender({ allowPrivate: context.allowPrivateWebhooks }),
    now: clock.now,
  };
  const host = { name: hostname(), directory: context.dataDirectory, isClockOff: () => isClockOff?.() === true };
  const calendar = context.alone ? ownCron(store) : sharedCron(context);
  const before = (signal: AbortSignal) => reviewOverdue(store, signal);

  const woken: [Topic, Worker][] = [
    ["fulfillment", startPool(createFulfillment({ store, log }), { log, isClockOff })],
    [
      "fulfillment",
      startPool(createSupplies({ store, log, gateway: suppliers, providers }), { log, before, isClockOff }),
    ],
    ["fulfillment", startPool(createTopups({ store, log, providers }), { log, isClockOff })],
    ["fulfillment", startPool(createLooks({ store, providers, now: clock.now, log }), { log, isClockOff })],
    ["deliveries", startDeliveries({ ...context, sender, publicUrl })],
    ["activations", startActivations({ store, gateway: carriers, log, isClockOff, calendar })],
    ["sandbox", loop("sandbox clocks", SECOND_MS, (signal) => settleSandbox({ store }, signal))],
  ];
  const polling = [
    balances(context, calendar, providers),
    ...jobs(context, calendar),
    loop("invitations", MAILS_MS, createInvitationMails(mailing)),
    loop("traveler mails", MAILS_MS, createTravelerMails(mailing)),
    loop("product events", SECOND_MS, (signal) => announceProducts({ store }, signal)),
    // Also by a wrong clock, which is what it reports then.
    startWorker({ name: "alerts", pollMs: ALERTS_MS, step: createAlerts({ ...context, ...sending, host }), log }),
  ];
  const stopListening = woken.map(([topic, worker]) => store.onSignal(topic, worker.wake));

  return {
    wake(topic) {
      for (const [its, worker] of woken) if (its === topic) worker.wake();
    },
    runsCron: calendar.holds,
    async stop() {
      for (const stop of stopListening) stop();
      await Promise.all([...woken.map(([, worker]) => worker), ...polling].map((worker) => worker.stop()));
      await calendar.stop();
      await Promise.all([exchange.close(), providers.close(), sending.sender.close()]);
      mailer.close();
    },
  };
}

/** Asks providers for their balances, on the node that runs the calendar. */
function balances({ store, log, isClockOff }: WorkerContext, calendar: Cron, providers: Providers): Worker {
  const step = createBalances({ store, providers, log, asks: calendar.holds });
  const worker = startWorker({ name: "balances", pollMs: BALANCES_MS, step, log, isClockOff });
  calendar.onTaken(worker.wake);
  return worker;
}

/** What the calendar makes due, beside activations. */
function jobs({ store, log }: WorkerContext, calendar: Cron): Worker[] {
  const job = (name: CronJob, pollMs: number, run: (signal: AbortSignal) => Promise<number>) => {
    const worker = startWorker({ name, pollMs, step: (signal) => calendar.run(name, signal, run), log });
    calendar.onTaken(worker.wake);
    return worker;
  };
  return [
    job("webhook_retention", HOUR_MS, (signal) => purgeOldDeliveries({ store }, signal)),
    job("sandbox_retention", HOUR_MS, (signal) => purgeSandboxOrders({ store }, signal)),
    job("head_signing", HOUR_MS, (signal) => signGrownHeads({ store }, signal)),
    job("esim_expiry", MINUTE_MS, (signal) => expireEsims({ store }, signal)),
    job("esim_notices", MINUTE_MS, (signal) => announceEsims({ store }, signal)),
    job("passport_notices", HOUR_MS, (signal) => announcePassports({ store }, signal)),
  ];
}

/** Does what advanced sandbox clocks made due, in short steps, partner by partner. Safe to kill at any moment. */
export async function settleSandbox({ store }: { store: Store }, signal: AbortSignal): Promise<void> {
  for (const partnerId of await store.read(partnersToSettle, null)) {
    const owner = { partnerId, environment: "sandbox" } as const;
    await drained(signal, () => store.write(settleStep, partnerId, undefined, owner));
  }
}

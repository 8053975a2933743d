import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { Agent } from "undici";
import { eventCatalog } from "../../src/core/events/catalog.ts";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { writeSettings } from "../../src/core/platform/settings.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { createWebhook } from "../../src/core/webhooks/create.ts";
import { envelopeOf } from "../../src/core/webhooks/envelope.ts";
import { triggerSample } from "../../src/core/webhooks/trigger.ts";
import { createWebhookSender } from "../../src/daemon/gateways/webhook-sender.ts";
import { startDeliveries } from "../../src/daemon/workers/deliveries.ts";
import setupPostgres from "../support/postgres-setup.ts";
import { type Bench, compare, paceOf, type Side } from "./bench.ts";
import { graphileSide } from "./graphile.ts";
import { type BenchStore, benchStore } from "./platform.ts";

const CONCURRENCY = 50;

/** Events to one fast receiver on loopback, each durable, signed, its outcome recorded; beside posting alone. */
export const webhooks: Bench = async (scale) => {
  const opened = await benchStore();
  const sink = await startSink();
  try {
    const ours = await throughWorker(opened, sink);
    const bare = postingAlone(sink);
    const what = "webhook deliveries, one receiver";
    const peer = `undici alone, ${CONCURRENCY} at a time, nothing stored or signed`;
    return [await compare({ ...scale, items: Math.ceil(scale.items / 2) }, { what, peer, ours, bare })];
  } finally {
    sink.stop();
    await opened.close();
  }
};

/** The same on PostgreSQL, beside graphile-worker, whose every job is a row of that database too. */
export const webhooksOnPostgres: Bench = async (scale) => {
  const [server, sink] = await Promise.all([startPostgres(), startSink()]);
  const { store, partnerId } = await partnerOn(await server.database("ours"));
  const post = poster(sink);
  const peer = await graphileSide(await server.database("graphile"), sink, CONCURRENCY, post);
  try {
    const ours = await throughWorker({ store, partnerId }, sink);
    const what = "webhook deliveries, one receiver, on PostgreSQL";
    const words = `graphile-worker, ${CONCURRENCY} at a time, posting unsigned`;
    const events = Math.ceil(scale.items / 2);
    return [await compare({ ...scale, items: events }, { what, peer: words, ours, bare: peer.side })];
  } finally {
    sink.stop();
    await Promise.all([store.close(), peer.close()]);
    await server.stop();
  }
};

async function startPostgres() {
  const stop = await setupPostgres();
  const server = process.env.ESIMCTL_TEST_POSTGRES ?? "";
  return {
    stop,
    async database(name: string): Promise<string> {
      const client = new pg.Client({ connectionString: server });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return Object.assign(new URL(server), { pathname: `/${name}` }).toString();
    },
  };
}

async function partnerOn(url: string) {
  const ids = randomIds();
  const store = await openStore({ url }, { clock: systemClock, ids, masterKey: ids.bytes(32) });
  const partner = await store.write(createPartner, { slug: "bench", name: "Bench", actor: "bench" });
  return { store, partnerId: partner.id };
}

/** A receiver in a process of its own. */
export interface Sink {
  url: string;
  /** Resolves once it has got `count` more requests. */
  got(count: number): Promise<unknown>;
  stop(): void;
}

/** Starts one; it ends with this process. */
async function startSink(): Promise<Sink> {
  const child = fork(join(import.meta.dirname, "sink.ts"));
  const [port] = await once(child, "message");
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    got(count) {
      child.send(count);
      return once(child, "message");
    },
    stop: () => void child.kill(),
  };
}

/** Records the events first, untimed; then delivers them all, until the last outcome is durable. */
async function throughWorker({ store, partnerId }: Pick<BenchStore, "store" | "partnerId">, sink: Sink) {
  await store.write(writeSettings, { allow_private_webhooks: "yes" });
  const owner = { partnerId, environment: "sandbox" } as const;
  await store.write(createWebhook, { owner, url: sink.url, events: ["order.created"], actor: "bench" });
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const side: Side = async (events) => {
    const input = { kind: "order.created", ...owner, actor: "bench" } as const;
    await Promise.all(Array.from({ length: events }, () => store.write(triggerSample, input)));
    const arrived = sink.got(events);
    return paceOf(events, async () => {
      const sender = createWebhookSender({ allowPrivate: true });
      const worker = startDeliveries({ store, clock: systemClock, sender, publicUrl: "http://esim.test", log });
      await arrived;
      await worker.stop();
    });
  };
  return side;
}

/** Posts one event, unsigned, and waits for the answer. */
function poster(sink: Sink): () => Promise<void> {
  const agent = new Agent();
  // A placeholder for a partner's id in a body that is not read.
  const about = { subjectId: "bench", partnerId: "bench" as PartnerId, now: 0 };
  const data = eventCatalog["order.created"].sample(about);
  const body = envelopeOf({ id: "bench", kind: "order.created", occurred_at: 0, data: JSON.stringify(data) });
  const { origin, pathname: path } = new URL(sink.url);
  return async () => {
    const headers = { "content-type": "application/json" };
    const response = await agent.request({ origin, path, method: "POST", headers, body });
    await response.body.dump();
  };
}

function postingAlone(sink: Sink): Side {
  const post = poster(sink);
  return async (events) => {
    const arrived = sink.got(events);
    return paceOf(events, async () => {
      let left = events;
      const loop = async () => {
        while (left-- > 0) await post();
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, loop));
      await arrived;
    });
  };
}

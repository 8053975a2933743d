import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Agent } from "undici";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { writeSettings } from "../../src/core/store/settings.ts";
import { createWebhook } from "../../src/core/webhooks/create.ts";
import { envelopeOf } from "../../src/core/webhooks/envelope.ts";
import { sampleData } from "../../src/core/webhooks/samples.ts";
import { triggerSample } from "../../src/core/webhooks/trigger.ts";
import { createWebhookSender } from "../../src/daemon/gateways/webhook-sender.ts";
import { startDeliveries } from "../../src/daemon/workers/deliveries.ts";
import { type Bench, compare, perSecond, type Side } from "./bench.ts";
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

/** A receiver in a process of its own. */
export interface Sink {
  url: string;
  /** Resolves once it has got `count` more requests. */
  got(count: number): Promise<unknown>;
  stop(): void;
}

/** Starts one; it ends with this process. */
export async function startSink(): Promise<Sink> {
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
export async function throughWorker({ store, partnerId }: Pick<BenchStore, "store" | "partnerId">, sink: Sink) {
  await store.write(writeSettings, { allow_private_webhooks: "yes" });
  const owner = { partnerId, environment: "sandbox" } as const;
  await store.write(createWebhook, { owner, url: sink.url, events: ["order.created"], actor: "bench" });
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const side: Side = async (events) => {
    const input = { kind: "order.created", ...owner, actor: "bench" } as const;
    await Promise.all(Array.from({ length: events }, () => store.write(triggerSample, input)));
    const arrived = sink.got(events);
    return perSecond(events, async () => {
      const sender = createWebhookSender({ allowPrivate: true });
      const worker = startDeliveries({ store, clock: systemClock, sender, publicUrl: "http://esim.test", log });
      await arrived;
      await worker.stop();
    });
  };
  return side;
}

function postingAlone(sink: Sink): Side {
  const agent = new Agent();
  const data = sampleData("order.created", { subjectId: "bench", partnerId: "bench" as never, now: 0 });
  const body = envelopeOf({ id: "bench", kind: "order.created", occurred_at: 0, data });
  const { origin, pathname: path } = new URL(sink.url);
  const post = async () => {
    const headers = { "content-type": "application/json" };
    const response = await agent.request({ origin, path, method: "POST", headers, body });
    await response.body.dump();
  };
  return async (events) => {
    const arrived = sink.got(events);
    return perSecond(events, async () => {
      let left = events;
      const loop = async () => {
        while (left-- > 0) await post();
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, loop));
      await arrived;
    });
  };
}

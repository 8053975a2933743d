import { Agent } from "undici";
import { onTestFinished } from "vitest";
import { costOf } from "../../../src/core/kernel/cost.ts";
import { Secret } from "../../../src/core/kernel/secret.ts";
import type { Memory } from "../../../src/core/store/schema/values.ts";
import type { EsimRef, Step } from "../../../src/core/supply/provider.ts";
import { createProviderCalls } from "../../../src/daemon/gateways/suppliers/calls.ts";
import { createEsimgo } from "../../../src/daemon/gateways/suppliers/esimgo/adapter.ts";
import { simulateEsimgo } from "../../../src/daemon/simulators/esimgo.ts";
import type { EsimgoOptions } from "../../../src/daemon/simulators/esimgo-account.ts";
import type { ProviderAnswer, ProviderRequest } from "../../../src/daemon/simulators/provider.ts";
import { testClock } from "../clock.ts";
import { openTestStore } from "../store.ts";
import { startProvider } from "./start.ts";

interface Setting extends EsimgoOptions {
  /** So much later (ms) it is after each request; a window of the limit is a second. */
  pace?: number;
  secret?: string;
  /** Answers in place of the double; null: it goes its way. */
  instead?: (request: ProviderRequest) => ProviderAnswer | null;
}

/** The adapter against the double, over a store of its own, by one clock. */
export async function openEsimgoAdapter({ pace = 600, secret, instead, ...options }: Setting = {}) {
  const clock = testClock();
  const double = simulateEsimgo({ tokens: 1_000, ...options });
  const requests: string[] = [];
  const answer = (request: ProviderRequest) => {
    requests.push(`${request.method} ${request.path}`);
    const answered = instead?.(request) ?? double.answer(request);
    clock.advance(pace);
    return answered;
  };
  const served = await startProvider({ ...double, answer }, { now: clock.now });
  const { store } = await openTestStore(clock);
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.close());
  const adapter = (url = served.url) =>
    createEsimgo({
      calls: createProviderCalls({ store, dispatcher, supplier: "go", url }),
      secret: new Secret(secret ?? double.secret),
      url,
      now: clock.now,
    });
  const known = new Set<string>();
  let units = 0;

  /** A purchase, or a top-up of `esim`, as a worker drives it: its memory outlives every run. */
  function purchase(plan: string, { esim, cost = 140 }: { esim?: EsimRef; cost?: number | null } = {}) {
    units += 1;
    const reference = `00000000-0000-7000-8000-${String(units).padStart(12, "0")}`;
    let memory: Memory | null = null;
    const notes: { stage: unknown; hold: string | undefined }[] = [];
    async function step(fresh: boolean, url?: string): Promise<Step> {
      const money = cost === null ? null : costOf(cost * 100);
      const isKnown = async (references: readonly string[]) => new Set(references.filter((one) => known.has(one)));
      const ask = { plan, days: null, reference, cost: money, memory, fresh, known: isKnown };
      const made = await (esim === undefined ? adapter(url).buy(ask) : adapter(url).topUp({ ...ask, esim }));
      if ("memory" in made) memory = made.memory;
      if (made.kind === "note") notes.push({ stage: made.memory.stage, hold: made.hold });
      if (made.kind === "bought" || made.kind === "applied") {
        const references = [made.reference, made.kind === "bought" ? made.esim.reference : null];
        for (const one of references) if (one !== null) known.add(one);
      }
      return made;
    }
    /** One run; it ends with the process right after the stage of `crash` was noted. `url`: reached there instead. */
    async function run({ crash, url, at }: { crash?: string; url?: string; at?: string } = {}): Promise<Step> {
      let made = await step(false, at === undefined ? url : undefined);
      while (made.kind === "note" && made.memory.stage !== crash) {
        made = await step(true, at === undefined || made.memory.stage === at ? url : undefined);
      }
      return made;
    }
    /** Runs until it ends, each as late as the step before asks for, or `most` of them. */
    async function end(most = 40): Promise<Step> {
      let made = await run();
      for (let nth = 1; nth < most && "waitMs" in made; nth++) {
        clock.advance(made.waitMs);
        made = await run();
      }
      return made;
    }
    return { run, end, notes, memory: () => memory, reference };
  }

  /** A call past the adapter, as staff make it in the portal. */
  async function call(method: string, path: string, body?: unknown) {
    const headers = { "x-api-key": double.secret, accept: "application/json" };
    const response = await fetch(`${served.url}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    return response.json();
  }
  return { ...served, double, clock, requests, adapter, provider: adapter(), purchase, call, known };
}

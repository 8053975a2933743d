import { Agent } from "undici";
import { expect, onTestFinished } from "vitest";
import { costOf } from "../../../src/core/kernel/cost.ts";
import { Secret } from "../../../src/core/kernel/secret.ts";
import type { Memory } from "../../../src/core/store/schema/values.ts";
import type { Ask, EsimRef, Step } from "../../../src/core/supply/provider.ts";
import { createProviderCalls } from "../../../src/daemon/gateways/suppliers/calls.ts";
import { createEsimgo } from "../../../src/daemon/gateways/suppliers/esimgo/adapter.ts";
import type { Provider } from "../../../src/daemon/gateways/suppliers/provider.ts";
import { simulateEsimgo } from "../../../src/daemon/simulators/esimgo.ts";
import type { EsimgoOptions } from "../../../src/daemon/simulators/esimgo-account.ts";
import type { ProviderAnswer, ProviderRequest } from "../../../src/daemon/simulators/provider.ts";
import { type TestClock, testClock } from "../clock.ts";
import { openTestStore } from "../store.ts";
import { askFor, run as runSteps } from "./run-purchase.ts";
import { startProvider } from "./start.ts";

/** A bundle that fits in a test, and an order of it for the inventory. */
export const BRITAIN = "esim_1GB_7D_GB_V2";
export const intoInventory = {
  type: "transaction",
  assign: false,
  order: [{ type: "bundle", item: BRITAIN, quantity: 1 }],
};

/** How its purchase ends. */
export const BOUGHT = {
  kind: "bought",
  cost: 14_000,
  esim: {
    iccid: expect.stringMatching(/^\d{18,20}$/),
    activationCode: expect.stringMatching(/^LPA:1\$rsp\.demo-esimgo\.example\$[0-9A-F-]+$/),
    confirmationCode: null,
    reference: expect.any(String),
  },
  reference: expect.any(String),
};

const REFERENCE = "00000000-0000-7000-8000-000000000001";

interface Setting extends EsimgoOptions {
  /** So much later (ms) it is after each request; a window of the limit is a second. */
  pace?: number;
  secret?: string;
  /** Answers in place of the double; null: it goes its way. */
  instead?: (request: ProviderRequest) => ProviderAnswer | null;
}

/** How a purchase is made, and what the core knows. */
interface Buyer {
  /** `url`: the provider is reached there instead. */
  adapter(url?: string): Provider;
  clock: TestClock;
  known: Set<string>;
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
  const made = new Map<string, Provider>();
  const adapter = (url = served.url) => {
    const calls = createProviderCalls({ store, dispatcher, supplier: "go", url });
    const parts = { calls, secret: new Secret(secret ?? double.secret), url, now: clock.now };
    const one = made.get(url) ?? createEsimgo(parts);
    made.set(url, one);
    return one;
  };
  const buyer: Buyer = { adapter, clock, known: new Set() };
  const purchase = (plan: string, of: Purchase = {}) => purchaseOf(buyer, plan, of);

  /** A call past the adapter, as staff make it in the portal. */
  async function call(method: string, path: string, body?: unknown) {
    const headers = { "x-api-key": double.secret, accept: "application/json" };
    const sent = body === undefined ? null : JSON.stringify(body);
    return (await fetch(`${served.url}${path}`, { method, headers, body: sent })).json();
  }

  /** Units bought, how many of them are spares of the inventory, and the eSIMs of the account. */
  async function holdings() {
    const { bundles } = await call("GET", "/inventory");
    const { esims } = await call("GET", "/esims?perPage=100");
    const stock = bundles.flatMap((one: { available: { remaining: number }[] }) => one.available);
    const spares = stock.reduce((sum: number, one: { remaining: number }) => sum + one.remaining, 0);
    return { units: double.state().bought, spares, esims: esims.length };
  }
  return { ...served, double, holdings, clock, requests, adapter, provider: adapter(), purchase, call };
}

interface Purchase {
  /** Left out: a new one is bought. */
  esim?: EsimRef;
  /** What it should cost, in cents. */
  cost?: number | null;
}

/** A purchase, or a top-up, as a worker drives it: its memory outlives every run. */
function purchaseOf({ adapter, clock, known }: Buyer, plan: string, { esim, cost = 140 }: Purchase) {
  const money = cost === null ? null : costOf(cost * 100);
  const isKnown = async (references: readonly string[]) => new Set(references.filter((one) => known.has(one)));
  let memory: Memory | null = null;
  const notes: { stage: unknown; hold: string | undefined }[] = [];

  async function step(ask: Ask, url?: string): Promise<Step> {
    const made = await (esim === undefined ? adapter(url).buy(ask) : adapter(url).topUp({ ...ask, esim }));
    if (made.kind === "note") notes.push({ stage: made.memory?.stage ?? null, hold: made.hold });
    const esimReference = made.kind === "bought" ? made.esim.reference : null;
    const reference = made.kind === "bought" || made.kind === "applied" ? made.reference : null;
    for (const one of [reference, esimReference]) if (one !== null) known.add(one);
    return made;
  }

  /** One run. `url`: the provider is reached there, from the stage `at` on where it is given. */
  async function run({ crash, url, at }: { crash?: string; url?: string; at?: string } = {}): Promise<Step> {
    const isThere = ({ fresh, memory }: Ask) => at === undefined || (fresh && memory?.stage === at);
    const ask = askFor({ plan, reference: REFERENCE, cost: money, memory, known: isKnown });
    const ran = await runSteps((one) => step(one, isThere(one) ? url : undefined), ask, crash);
    memory = ran.memory;
    return ran.last;
  }

  /** Runs until it ends, each as late as the step before asks for; after 40 it goes on without end. */
  async function end(): Promise<Step> {
    let made = await run();
    for (let nth = 1; nth < 40 && "waitMs" in made; nth++) {
      clock.advance(made.waitMs);
      made = await run();
    }
    return made;
  }
  return { run, end, notes, memory: () => memory };
}

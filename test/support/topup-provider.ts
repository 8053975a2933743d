import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { deliveredEsims } from "../../src/core/esims/delivered.ts";
import { costOf } from "../../src/core/kernel/cost.ts";
import { Problem } from "../../src/core/kernel/problem.ts";
import { updateRow } from "../../src/core/store/rows.ts";
import { setSupplier } from "../../src/core/suppliers/set.ts";
import type { Plan, Step, TopupAsk } from "../../src/core/supply/provider.ts";
import type { Provider, ProviderParts } from "../../src/daemon/gateways/suppliers/provider.ts";
import { adapters, createProviders } from "../../src/daemon/gateways/suppliers/providers.ts";
import { createTopups } from "../../src/daemon/workers/topups.ts";
import type { Platform } from "./platform.ts";
import { settled } from "./pool.ts";

/** How the provider ends its next purchase; `lose`: done, and the connection breaks before the answer. */
export type Ending = "apply" | "refuse" | "refuse account" | "lose" | "busy" | "drop";

/** A provider of top-ups on loopback, with its memory. */
export interface TopupProvider {
  url: string;
  /** `list ICCID`, `fits PLAN`, `buy REFERENCE`, `find REFERENCE`, as they came. */
  calls: string[];
  /** What was bought, by reference. */
  bought: Map<string, string>;
  plans: Plan[] | null;
  /** Plans that fit, where it has no list of them. */
  fitting: string[];
  /** How the next purchases end; then all are applied. */
  next: Ending[];
  stop(): Promise<void>;
}

/** A top-up plan; pass only what the test is about. */
export function plan(fields: Partial<Plan> & { plan: string }): Plan {
  return {
    name: `More ${fields.plan}`,
    cost: costOf(22_800),
    currency: "USD",
    coverage: ["DE", "FR"],
    region: "Europe",
    dataMb: 3072,
    unlimited: false,
    validityDays: 30,
    daily: false,
    voice: false,
    speed: "4G/5G",
    networks: [],
    activation: null,
    notes: [],
    topup: true,
    ...fields,
  };
}

/** A real HTTP server on loopback that sells top-ups; it ends with the test. */
export async function startTopupProvider(): Promise<TopupProvider> {
  const state: Omit<TopupProvider, "url" | "stop"> = {
    calls: [],
    bought: new Map(),
    plans: [],
    fitting: [],
    next: [],
  };
  const server = createServer((request, response) => answer(state, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(stop);
  // It listens on a port.
  return Object.assign(state, { stop, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function answer(state: Omit<TopupProvider, "url" | "stop">, { url = "" }: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams } = new URL(url, "http://provider.test");
  const send = (body: unknown) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  const asked = pathname.slice(1);
  const of = searchParams.get("of") ?? "";
  state.calls.push(`${asked} ${of}`);
  if (asked === "list") return send(state.plans);
  if (asked === "fits") return send(state.fitting.includes(of));
  if (asked === "find") return send({ found: state.bought.has(of) });
  const ending = state.next.shift() ?? "apply";
  if (ending === "drop") return void response.destroy();
  if (ending === "apply" || ending === "lose") state.bought.set(of, searchParams.get("plan") ?? "");
  return ending === "lose" ? void response.destroy() : send({ ending });
}

/** How the adapter of the tests buys: at once, or noting before, so that no two purchases of a plan are under way. */
export interface Buying {
  notes: boolean;
  /** Look-ups that find nothing before it is left to people. */
  lookUps: number;
}

/** Puts a provider into the table of adapters and sets it up as a supplier `prov` whose prices are cost × 1.35. */
export async function setUpProvider({ store }: Pick<Platform, "store">, { url }: TopupProvider, buying?: Buying) {
  const { esimgo } = adapters;
  // Other tests of this process have the real one.
  onTestFinished(() => {
    adapters.esimgo = esimgo;
  });
  adapters.esimgo = (parts) => adapterOf(parts, buying ?? { notes: false, lookUps: 2 });
  const settings = { adapter: "esimgo", url, secret: "api-key" } as const;
  await store.write(setSupplier, { name: "prov", settings, actor: "test" });
  await store.write(
    (tx) => updateRow(tx, "suppliers", { name: "prov" }, { markup_points: 3500, sku_prefix: "P-" }),
    null,
  );
}

/** Makes an eSIM one that the provider delivered. */
export async function makeSupplied({ store }: Pick<Platform, "store">, iccid: string) {
  await store.write(async (tx) => {
    for (const { esim } of await deliveredEsims(tx, iccid)) {
      await updateRow(tx, "esims", { id: esim.id }, { supplier: "prov", supplier_ref: `ref-${iccid}` });
    }
  }, null);
}

/** Runs the worker of top-ups on all that is due. */
export async function work({ store, clock }: Pick<Platform, "store" | "clock">) {
  const providers = createProviders({ store, now: clock.now });
  const log = { error: console.error, warn: () => undefined, info: () => undefined };
  await settled(createTopups({ store, providers, log }));
  await providers.close();
}

function adapterOf({ calls }: ProviderParts, buying: Buying): Provider {
  const get = (path: string) => calls.send({ method: "GET", path, limits: [], timeoutMs: 5_000 });
  async function read<T>(path: string): Promise<T> {
    const got = await get(path);
    if (got.sent && got.status === 200) return got.body as T; // the server of this file sends what it is asked for
    throw new Problem("supplier_unreachable", "The supplier does not answer.");
  }
  const none = () => Promise.reject(new Error("no test asks for this"));
  return {
    buy: none,
    catalog: none,
    balance: none,
    check: none,
    look: none,
    refund: none,
    replace: none,
    readNotice: () => ({ refused: "it sends none" }),
    topupPlans: ({ iccid }) => read<Plan[] | null>(`/list?of=${iccid}`),
    fits: (_esim, name) => read<boolean>(`/fits?of=${name}`),
    async topUp(ask) {
      if (ask.memory !== null && !ask.fresh) return lookUp(ask, buying, read);
      if (buying.notes && !ask.fresh) return { kind: "note", memory: { looked: 0 }, hold: ask.plan };
      return purchase(await get(`/buy?of=${ask.reference}&plan=${ask.plan}`), ask);
    },
  };
}

async function lookUp({ reference, memory }: TopupAsk, { lookUps }: Buying, read: <T>(path: string) => Promise<T>) {
  const looked = Number(memory?.looked ?? 0) + 1;
  const { found } = await read<{ found: boolean }>(`/find?of=${reference}`);
  if (found) return { kind: "applied", reference: `order-${reference}`, cost: null } satisfies Step;
  const reason = "it has no such order";
  if (looked >= lookUps) return { kind: "lost", reason, memory: { looked } } satisfies Step;
  return { kind: "unknown", reason, memory: { looked }, waitMs: 10_000 } satisfies Step;
}

function purchase(got: Awaited<ReturnType<ProviderParts["calls"]["send"]>>, { reference }: TopupAsk): Step {
  if (!got.sent) {
    return "waitMs" in got ? { kind: "busy", waitMs: got.waitMs } : { kind: "unsent", reason: got.reason };
  }
  if (got.status === null) {
    return { kind: "unknown", reason: got.reason, memory: { looked: 0 }, waitMs: 10_000 };
  }
  const { ending } = got.body as { ending: Ending }; // as above
  if (ending === "busy") return { kind: "busy", waitMs: 2_000 };
  if (ending === "apply") return { kind: "applied", reference: `order-${reference}`, cost: null };
  const because = ending === "refuse" ? "plan" : "account";
  return { kind: "refused", code: "7", message: "the plan was withdrawn", because };
}

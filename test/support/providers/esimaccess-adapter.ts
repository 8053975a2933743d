import { Agent } from "undici";
import { onTestFinished } from "vitest";
import { Secret } from "../../../src/core/kernel/secret.ts";
import type { Ask, EsimRef, Step, TopupAsk } from "../../../src/core/supply/provider.ts";
import { createProviderCalls } from "../../../src/daemon/gateways/suppliers/calls.ts";
import { createEsimaccess } from "../../../src/daemon/gateways/suppliers/esimaccess/adapter.ts";
import { type EaReadings, simulateEsimaccess } from "../../../src/daemon/simulators/esimaccess.ts";
import type { ProviderAnswer, ProviderRequest } from "../../../src/daemon/simulators/provider.ts";
import { testClock } from "../clock.ts";
import { openTestStore } from "../store.ts";
import { askFor, run } from "./run-purchase.ts";
import { startProvider } from "./start.ts";

export { REFERENCE, run } from "./run-purchase.ts";

/** How one request is answered in the double's place. */
type Scripted = (request: ProviderRequest, ordinary: () => ProviderAnswer) => ProviderAnswer;

export const SUPPLIER = "skyline";
/** How long each request takes by the clock, so that no test waits for the limit. */
const REQUEST_MS = 150;

/** The envelope of a refusal. */
export function failure(errorCode: string, obj: unknown = null): ProviderAnswer {
  return { status: 200, body: { success: false, errorCode, errorMsg: "-", obj } };
}

/** The envelope of a success. */
export function success(obj: unknown): ProviderAnswer {
  return { status: 200, body: { success: true, errorCode: null, errorMsg: null, obj } };
}

/** The adapter with a store and the double of eSIM Access, all by a clock that the test moves. */
export async function startAdapter(readings: EaReadings = {}) {
  const clock = testClock();
  const double = simulateEsimaccess({ perSecond: 1_000, ...readings });
  const scripted: { path: string; answer: Scripted }[] = [];
  const requests: { path: string; body: ReturnType<typeof JSON.parse> }[] = [];
  const answer = (request: ProviderRequest): ProviderAnswer => {
    clock.advance(REQUEST_MS);
    const { path, body } = request;
    requests.push({ path, body: JSON.parse(body.toString("utf8")) });
    const at = scripted.findIndex((one) => one.path === path);
    const ordinary = () => double.answer({ ...request, now: clock.now() });
    const given = at < 0 ? ordinary() : scripted.splice(at, 1)[0]?.answer(request, ordinary);
    return { status: 500, ...given, headers: { date: new Date(clock.now()).toUTCString(), ...given?.headers } };
  };
  const provider = await startProvider({ ...double, answer }, { now: clock.now });
  const { store } = await openTestStore(clock);
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());
  const adapter = (secret = double.secret, url = provider.url) => {
    const calls = createProviderCalls({ store, dispatcher, supplier: SUPPLIER, url });
    return createEsimaccess({ calls, secret: new Secret(secret), url, now: clock.now });
  };
  /** The next requests of a path are answered like this. */
  const script = (path: string, ...answers: (Scripted | ProviderAnswer)[]) => {
    scripted.push(...answers.map((one) => ({ path, answer: typeof one === "function" ? one : () => one })));
  };
  const sent = (path: string) => requests.filter((one) => one.path === path).map(({ body }) => body);
  const ea = adapter();
  /** One eSIM that was bought, as later calls name it. */
  const bought = async (given: Partial<Ask> = {}): Promise<EsimRef> => {
    const { last } = await run(ea.buy, asked({ reference: crypto.randomUUID(), ...given }));
    if (last.kind !== "bought") throw new Error(`not bought: ${JSON.stringify(last)}`);
    return { iccid: last.esim.iccid, reference: last.esim.reference };
  };
  return { ...provider, clock, store, adapter, ea, script, sent, bought };
}

/** A purchase as the worker asks for it. */
export function asked(given: Partial<Ask> = {}): Ask {
  return askFor({ plan: "CJP101", ...given });
}

/** A top-up as the worker asks for it. */
export function askedTopUp(esim: EsimRef, given: Partial<Ask> = {}): TopupAsk {
  return { ...asked({ plan: "TOPUP_CJP101", ...given }), esim };
}

/** Runs again and again, each time after the wait that the last one asked for, until it ends. Returns every outcome. */
export async function runOn<A extends Ask>(
  step: (ask: A) => Promise<Step>,
  ask: A,
  clock: { advance(ms: number): void },
): Promise<Step[]> {
  const outcomes: Step[] = [];
  let memory = ask.memory;
  for (let runs = 0; runs < 300; runs++) {
    const ran = await run(step, { ...ask, memory });
    outcomes.push(ran.last);
    if (!("waitMs" in ran.last)) return outcomes;
    clock.advance(ran.last.waitMs);
    memory = ran.memory;
  }
  throw new Error("it has no end");
}

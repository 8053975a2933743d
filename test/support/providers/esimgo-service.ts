import { simulateEsimgo } from "../../../src/daemon/simulators/esimgo.ts";
import type { EsimgoOptions } from "../../../src/daemon/simulators/esimgo-account.ts";
import type { PlayedEsim, ProviderCallback } from "../../../src/daemon/simulators/provider.ts";
import { startProvider } from "./start.ts";

/** When a service begins. */
export const START = Date.parse("2026-03-01T10:00:00Z");
export const BRITAIN = "esim_1GB_7D_GB_V2";
export const FRANCE = "esim_1GB_7D_FR_V2";
export const JAPAN = "esim_10GB_30D_JP_V2";
export const UNLIMITED = "esim_UL_1D_TR_V2";

/** The simulated eSIM Go on loopback, with more tokens than a test needs, unless it is about them. */
export async function openEsimgo(options: EsimgoOptions = {}) {
  const provider = simulateEsimgo({ tokens: 1_000, ...options });
  let time = START;
  const served = await startProvider(provider, { now: () => time });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
  type Json = any;
  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const sent = { "x-api-key": provider.secret, accept: "application/json", ...headers };
    const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const response = await fetch(`${served.url}${path}`, { method, headers: sent, body: text ?? null });
    const answer = await response.text();
    const isJson = response.headers.get("content-type") === "application/json";
    const json: Json = isJson ? JSON.parse(answer) : null;
    return { status: response.status, headers: response.headers, text: answer, json };
  }
  const get = async (path: string): Promise<Json> => (await send("GET", path)).json;
  const buy = (item: string, more: object = {}, assign = false) =>
    send("POST", "/orders", { type: "transaction", assign, order: [{ type: "bundle", item, quantity: 1, ...more }] });
  return {
    ...served,
    provider,
    send,
    get,
    buy,
    /** The ICCID of a new eSIM with a bundle. */
    async newEsim(item = BRITAIN): Promise<string> {
      return (await buy(item, {}, true)).json.order[0].iccids[0];
    },
    advance(ms: number) {
      time += ms;
    },
    /** What a phone does; the callbacks it causes. */
    play(played: PlayedEsim): ProviderCallback[] {
      return provider.play(played, time) ?? [];
    },
    async states(iccid: string): Promise<string[]> {
      const { bundles } = await get(`/esims/${iccid}/bundles?includeUsed=true`);
      return bundles.flatMap((one: Json) => one.assignments.map((assignment: Json) => assignment.bundleState));
    },
  };
}

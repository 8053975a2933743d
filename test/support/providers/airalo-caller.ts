import { simulateAiralo } from "../../../src/daemon/simulators/airalo.ts";
import { testClock } from "../clock.ts";
import { startProvider } from "./start.ts";

const CLIENT = { client_id: "DEMO_CLIENT", client_secret: "DEMO_CLIENT_SECRET" };
/** What the double takes for a token. */
export const CREDENTIAL = { ...CLIENT, grant_type: "client_credentials" };

/** The double behind a server, with what a partner's program would send. */
export async function startAiralo() {
  const clock = testClock("2026-03-02T09:30:00.000Z");
  const provider = simulateAiralo();
  const { url, steer } = await startProvider(provider, { now: clock.now });
  let token = "";
  async function send(path: string, init: RequestInit = {}) {
    const headers = new Headers(init.headers);
    if (token !== "") headers.set("authorization", `Bearer ${token}`);
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
    const body: any = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, body };
  }
  const form = (fields: Record<string, string | string[]>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
    return { method: "POST", body };
  };
  const json = (fields: object) => ({
    method: "POST",
    body: JSON.stringify(fields),
    headers: { "content-type": "application/json" },
  });
  const signIn = async () => {
    const answer = await send("/token", { method: "POST", body: new URLSearchParams(CREDENTIAL) });
    token = answer.body.data.access_token;
    return answer;
  };
  const order = (fields: Record<string, string> = {}) =>
    send("/orders", form({ quantity: "1", package_id: "hinode-7days-1gb", type: "sim", ...fields }));
  const orders = async (filter = "") => (await send(`/orders?include=sims,user,status${filter}`)).body;
  const topUp = (iccid: string, fields: Record<string, string> = {}) =>
    send("/orders/topups", form({ iccid, package_id: "hinode-7days-1gb-topup", ...fields }));
  return { clock, provider, url, steer, send, form, json, signIn, order, orders, topUp };
}

/** The same, signed in. */
export async function signedInAiralo() {
  const airalo = await startAiralo();
  await airalo.signIn();
  return airalo;
}

import { type EaReadings, simulateEsimaccess } from "../../../src/daemon/simulators/esimaccess.ts";
import { testClock } from "../clock.ts";
import { startProvider } from "./start.ts";

/** The account's access code, as a header. */
export const ACCESS = { "rt-accesscode": "DEMOACCESS" };
/** A page that holds what a test buys. */
export const PAGER = { pageNum: 1, pageSize: 50 };

/** The double with a clock of the test; its limit is out of the way, since that clock does not move by itself. */
export async function startEsimaccess(readings: EaReadings = {}) {
  const clock = testClock();
  const provider = await startProvider(simulateEsimaccess({ perSecond: 1_000, ...readings }), { now: clock.now });
  const raw = async (path: string, body: string, headers: Record<string, string> = ACCESS, method = "POST") => {
    const response = await fetch(provider.url + path, { method, headers, ...(method === "GET" ? {} : { body }) });
    return { status: response.status, answer: await response.json() };
  };
  /** The whole envelope. */
  const call = async (path: string, body: unknown = {}) => (await raw(path, JSON.stringify(body))).answer;
  /** What comes of a call that must succeed. */
  const obj = async (path: string, body: unknown = {}) => {
    const answer = await call(path, body);
    if (answer.success !== true) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.obj;
  };
  const code = async (path: string, body: unknown = {}) => (await call(path, body)).errorCode;
  const order = (transactionId: string, packageCode = "CJP101", count = 1) =>
    call("/esim/order", { transactionId, packageInfoList: [{ packageCode, count }] });
  const rows = async (filter: Record<string, unknown>) =>
    (await obj("/esim/query", { ...filter, pager: PAGER })).esimList;
  /** One eSIM that was bought, as a query shows it. */
  const bought = async (transactionId: string, packageCode?: string) => {
    const { obj: placed } = await order(transactionId, packageCode);
    return (await rows({ orderNo: placed.orderNo }))[0];
  };
  const balance = async () => (await obj("/balance/query")).balance;
  return { ...provider, clock, raw, call, obj, code, order, rows, bought, balance };
}

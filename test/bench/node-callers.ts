/** Callers of several nodes in a process of their own, so that they cost no node's thread anything; see nodes.ts. */
import { Client } from "undici";

/** One connection to one node. */
export interface NodeCaller {
  url: string;
  token: string;
  /** What it asks for, in turn: the body of an order, or the path of what it reads. */
  asks: ({ order: string } | { read: string })[];
}

/** A run: all of them call without a pause until the time (ms) is over. */
export interface NodeLoad {
  ms: number;
  writers: NodeCaller[];
  readers: NodeCaller[];
}

/** What came of it, in responses a second; 0 where there were no callers. `failed`: a response that was no 2xx. */
export type NodeRates = { orders: number; reads: number; placed: number } | { failed: string };

/** A node that answers nothing for so long never does. */
const HANG_MS = 30_000;

let keys = 0;

async function ask(client: Client, { token, asks }: NodeCaller, turn: number): Promise<void> {
  const asked = asks[turn % asks.length];
  if (asked === undefined) throw new Error("a caller has nothing to ask for");
  const headers = { authorization: `Bearer ${token}` };
  const request =
    "read" in asked
      ? ({ method: "GET", path: asked.read, headers } as const)
      : ({
          method: "POST",
          path: "/api/v1/orders",
          headers: {
            ...headers,
            "content-type": "application/json",
            "idempotency-key": `bench-${process.pid}-${++keys}`,
          },
          body: asked.order,
        } as const);
  const { statusCode, body } = await client.request(request);
  const text = await body.text();
  if (statusCode < 200 || statusCode > 299) throw new Error(`${request.path}: ${statusCode} ${text}`);
}

/** Calls until the time is over, and to the end of what is then under way; how many, and how many a second. */
async function callAll(callers: NodeCaller[], ms: number): Promise<{ count: number; rate: number }> {
  const from = performance.now();
  let count = 0;
  const call = async (caller: NodeCaller, at: number) => {
    const client = new Client(caller.url, { headersTimeout: HANG_MS });
    do {
      await ask(client, caller, at + count);
      count += 1;
    } while (performance.now() - from < ms);
    await client.close();
  };
  await Promise.all(callers.map(call));
  return { count, rate: count / ((performance.now() - from) / 1_000) };
}

async function run({ ms, writers, readers }: NodeLoad): Promise<NodeRates> {
  try {
    const [orders, reads] = await Promise.all([callAll(writers, ms), callAll(readers, ms)]);
    return { orders: orders.rate, reads: reads.rate, placed: orders.count };
  } catch (error) {
    return { failed: String(error) };
  }
}

// The parent sends loads.
process.on("message", async (load) => process.send?.(await run(load as NodeLoad)));
process.on("disconnect", () => process.exit());

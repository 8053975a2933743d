/** Started by `mix.ts`: sends a mix of requests as partners do, and prints how fast responses came as JSON. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Pool } from "undici";
import type { MixLoad, MixSent } from "./mix.ts";

/** A partner's state: what it may ask for next. */
interface Caller {
  token: string;
  /** IDs of orders to poll, each one as often as it is to be polled. */
  polls: string[];
  last: string | null;
  /** Cursors by list. */
  cursors: Map<string, string>;
}

interface Request {
  method: "GET" | "POST";
  path: string;
  body?: string;
  key?: string;
  /** Takes from the response what later requests need. */
  learn?(body: Body): void;
}

/** What is read of responses (contract: orders, lists, bulk, the event feed). */
interface Body {
  id?: string;
  next_cursor?: string | null;
  pagination?: { next_cursor: string | null };
  results?: { service_order_id: string | null; status: string }[];
}

// `mix.ts` writes it.
const load = JSON.parse(readFileSync(String(process.argv[2]), "utf8")) as MixLoad;
const callers: Caller[] = load.tokens.map((token) => ({ token, polls: [], last: null, cursors: new Map() }));
const random = seeded(load.seed);
const pick = <T>(from: readonly T[]): T => {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error("there is nothing to pick from");
  return found;
};
let unique = 0;

/** Mulberry32: the same requests in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function ordered(caller: Caller, id: string | null | undefined): void {
  if (typeof id !== "string") throw new Error("an order without an ID");
  caller.last = id;
  const times = 1 + Math.floor(random() * 4);
  for (let time = 0; time < times; time++) caller.polls.push(id);
}

/** The next page of a list, or its first again after a few. */
function page(caller: Caller, path: string): Request {
  const cursor = caller.cursors.get(path);
  const learn = ({ pagination }: Body) => {
    const next = pagination?.next_cursor;
    if (typeof next === "string" && random() < 0.7) caller.cursors.set(path, next);
    else caller.cursors.delete(path);
  };
  return { method: "GET", path: cursor === undefined ? path : `${path}&cursor=${encodeURIComponent(cursor)}`, learn };
}

function create(caller: Caller): Request {
  const lines = [{ product_id: pick(load.productIds), quantity: 1 + Math.floor(random() * 3) }];
  const body = JSON.stringify({ line_items: lines, metadata: { booking: `B-${unique}` } });
  const key = `${load.seed}-${unique++}`;
  return { method: "POST", path: "/api/v1/orders", body, key, learn: ({ id }) => ordered(caller, id) };
}

function bulk(caller: Caller): Request {
  const orders = Array.from({ length: 10 }, () => ({
    external_order_id: `bulk-${load.seed}-${unique++}`,
    line_items: [{ product_id: pick(load.productIds), quantity: 1 }],
    customer: { email: `traveler${unique}@example.com`, name: `Mia Chen ${unique}` },
  }));
  const learn = ({ results = [] }: Body) => {
    for (const { status, service_order_id } of results) {
      if (status !== "success") throw new Error("an order of a bulk failed");
      ordered(caller, service_order_id);
    }
  };
  return { method: "POST", path: "/api/v1/orders/bulk", body: JSON.stringify({ orders }), learn };
}

const orderLists = ["limit=20", "status=fulfilled", "status=waiting_review", "limit=50", "limit=50&status=fulfilled"];
const productLists = ["region=Europe", "sort_by=price_cents&sort_order=asc", "sort_by=name", "limit=50&type=data_only"];

function feed(caller: Caller): Request {
  const after = caller.cursors.get("feed");
  const path = `/api/v1/events?limit=50${after === undefined ? "" : `&after=${encodeURIComponent(after)}`}`;
  const learn = ({ next_cursor }: Body) => {
    if (typeof next_cursor === "string") caller.cursors.set("feed", next_cursor);
  };
  return { method: "GET", path, learn };
}

function order(caller: Caller, suffix = ""): Request {
  const id = caller.last;
  return id === null ? create(caller) : { method: "GET", path: `/api/v1/orders/${id}${suffix}` };
}

function poll(caller: Caller): Request {
  const [id] = caller.polls.splice(Math.floor(random() * caller.polls.length), 1);
  return id === undefined ? order(caller) : { method: "GET", path: `/api/v1/orders/${id}` };
}

/** Each kind with its share in percent. */
const kinds: [number, (caller: Caller) => Request][] = [
  [30, poll],
  [20, (caller) => page(caller, `/api/v1/orders?${pick(orderLists)}`)],
  [15, (caller) => page(caller, `/api/v1/products?${pick(productLists)}`)],
  [5, () => ({ method: "GET", path: `/api/v1/products/${pick(load.productIds)}` })],
  [5, () => ({ method: "GET", path: "/api/v1/balance" })],
  [15, create],
  [5, bulk],
  [3, feed],
  [2, (caller) => order(caller, "/esims")],
];

function next(caller: Caller): Request {
  let at = random() * 100;
  for (const [share, make] of kinds) {
    at -= share;
    if (at < 0) return make(caller);
  }
  return poll(caller);
}

async function send(pool: Pool, caller: Caller, request: Request): Promise<number> {
  const from = performance.now();
  const { statusCode, body } = await pool.request({
    method: request.method,
    path: request.path,
    headers: {
      authorization: `Bearer ${caller.token}`,
      traceparent: `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`,
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...(request.key === undefined ? {} : { "idempotency-key": request.key }),
    },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
  const text = await body.text();
  const took = performance.now() - from;
  if (statusCode >= 300) throw new Error(`${request.method} ${request.path}: ${statusCode} ${text.slice(0, 500)}`);
  // The contract's bodies; see Body.
  request.learn?.(JSON.parse(text) as Body);
  return took;
}

async function run(): Promise<MixSent> {
  const pool = new Pool(load.url, { connections: load.connections });
  const waits: number[] = [];
  let left = load.amount;
  const began = performance.now();
  const loop = async () => {
    while (left-- > 0) {
      const caller = pick(callers);
      waits.push(await send(pool, caller, next(caller)));
    }
  };
  await Promise.all(Array.from({ length: load.connections }, loop));
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  waits.sort((one, other) => one - other);
  const within = (share: number) => waits[Math.ceil(waits.length * share) - 1] ?? 0;
  return { seconds, p50Ms: within(0.5), p99Ms: within(0.99) };
}

console.log(JSON.stringify(await run()));

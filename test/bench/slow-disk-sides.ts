/** Started by `slowDisk`: measures in a process of its own and prints the lines of the table as JSON. */
import { compare, type Measured, type Scale, type Side } from "./bench.ts";
import { fulfilledOrders } from "./fulfilled-orders.ts";
import { httpLoad, steadyLoad } from "./http-load.ts";
import { orderLoad, PEER, rawSide, throughHttp } from "./order-creation.ts";
import { benchStore, servePlatform } from "./platform.ts";

const READERS = 32;

async function run(scale: Scale): Promise<Measured[]> {
  const [opened, peer] = [await benchStore(), await benchStore()];
  const { app, url, token } = await servePlatform(opened);
  const raw = rawSide(peer);
  const orders = throughHttp(opened, url, token);
  const headers = { authorization: `Bearer ${token}` };
  const [first] = await fulfilledOrders(opened);
  const order = `${url}/api/v1/orders/${first}`;
  const reads: Side = (amount) => httpLoad({ url: order, connections: READERS, amount, headers });
  const some = { ...scale, items: Math.ceil(scale.items / 5) };
  try {
    return [
      await compare(some, {
        what: "POST /orders, 64 connections, 4 ms a sync",
        peer: PEER,
        ours: orders,
        bare: raw.side,
      }),
      await compare(some, {
        what: "GET /orders/{id} beside 64 connections that order, 4 ms a sync",
        peer: "the same without orders",
        ours: async (amount) => {
          const stop = steadyLoad(orderLoad(opened, url, token));
          try {
            return await reads(amount);
          } finally {
            await stop();
          }
        },
        bare: reads,
      }),
    ];
  } finally {
    await app.close();
    raw.close();
    await Promise.all([opened.close(), peer.close()]);
  }
}

// `slowDisk` passes a scale.
console.log(JSON.stringify(await run(JSON.parse(String(process.argv[2])))));

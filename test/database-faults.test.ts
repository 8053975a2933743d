import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { call, type Reply } from "./support/platform.ts";
import { openShop, type Shop, shopToken } from "./support/shop.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";

const FUNDS = 1_000_000;

async function faultyShop() {
  const url = onPostgres ? (await freshPostgres()).url : undefined;
  const shop = await openShop({
    folder: temporaryDirectory(),
    url,
    stock: { EU5: 200 },
    priceCents: 5,
    fundsCents: FUNDS,
  });
  return { shop, url: url ?? "" };
}

/** A caller of a shop's daemon, whose token was fetched while all was well. */
async function callerOf(shop: Shop, url: string) {
  const authorization = `Bearer ${await shopToken(shop, url)}`;
  const body = JSON.stringify({ line_items: [{ product_id: shop.products.EU5, quantity: 1 }] });
  return {
    order: (key: string): Promise<Reply> =>
      call(`${url}/api/v1/orders`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", "idempotency-key": key },
        body,
      }),
    get: (path: string) => call(url + path, { headers: { authorization } }),
  };
}

/** A session of the operator's own on a PostgreSQL server. */
async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()";

describe.runIf(onPostgres)("PostgreSQL", () => {
  test("a node outlives the loss of all its connections, and no order is lost or doubled", async () => {
    const { shop, url } = await faultyShop();
    const daemon = await startDaemon(shop.served);
    const { order, get } = await callerOf(shop, daemon.url);
    const operator = await session(process.env.ESIMCTL_TEST_POSTGRES ?? "");
    const cut = () => operator.query(CUT, [new URL(url).pathname.slice(1)]);
    const statuses = new Set<number>();
    let writing = true;
    async function until(ask: () => Promise<Reply>, wanted: number[]): Promise<Reply> {
      for (;;) {
        const reply = await ask();
        statuses.add(reply.status);
        if (wanted.includes(reply.status)) return reply;
      }
    }
    async function reader(): Promise<void> {
      while (writing) await until(() => get("/api/v1/orders"), [200]);
    }
    async function writer(name: string): Promise<void> {
      for (let i = 0; i < 20; i++) {
        const ordered = until(() => order(`${name}-${i}`), [200, 201]);
        if (i % 4 === 0) await cut();
        await ordered;
      }
    }
    const reading = [reader(), reader()];
    await Promise.all(["a", "b", "c", "d"].map(writer));
    writing = false;
    await Promise.all(reading);

    const { body } = await until(() => get("/api/v1/orders?limit=100"), [200]);
    expect(body.data).toHaveLength(80);
    expect(await daemon.stop()).toMatchObject({ code: 0, signal: null });
  });
});

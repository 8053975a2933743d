import { readFileSync, renameSync } from "node:fs";
import { Agent, request } from "undici";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { dataDirectory } from "../src/core/platform/data-directory.ts";
import { type Daemon, refusedDaemon, startDaemon } from "./support/daemon.ts";
import { freePort } from "./support/free-port.ts";
import { eventually, HANG_MS } from "./support/hangs.ts";
import { call } from "./support/platform.ts";
import { openShop, type Shop, shopToken } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctlJson } from "./support/warm.ts";

const smallShop = () =>
  openShop({ folder: temporaryDirectory(), stock: { EU5: 3 }, priceCents: 250, fundsCents: 1000 });

/** The processes that a daemon has started. */
function frontsOf({ pid }: Daemon): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Each on a connection of its own: they go to the processes in turn. */
async function separately(url: string, times: number) {
  return Promise.all(
    Array.from({ length: times }, async () => {
      const agent = new Agent({ pipelining: 0 });
      onTestFinished(() => agent.close());
      const { headers, body } = await request(`${url}/api/v1/oauth/token`, {
        dispatcher: agent,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          grant_type: "client_credentials",
          client_id: "sk_test_nobody",
          client_secret: "x".repeat(20),
        }),
      });
      await body.dump();
      return `${headers["x-ratelimit-reset"]} ${headers["x-ratelimit-remaining"]}`;
    }),
  );
}

async function order(shop: Shop, url: string, key: string) {
  const token = await shopToken(shop, url);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key };
  const body = JSON.stringify({ line_items: [{ product_id: shop.products.EU5, quantity: 1 }] });
  const made = await call(`${url}/api/v1/orders`, { method: "POST", headers, body });
  return { made, read: () => call(`${url}/api/v1/orders/${made.body.id}`, { headers }) };
}

const failedStarts = (daemon: Daemon) => daemon.text().split("a front could not start").length - 1;

describe("serve --workers", () => {
  test("answers from several processes, which count requests together and end with the daemon", {
    tags: ["slow"],
  }, async () => {
    const shop = await smallShop();
    const daemon = await startDaemon({ data: shop.data, flags: ["--workers", "2"] });
    const fronts = frontsOf(daemon);
    expect(fronts).toHaveLength(2);
    expect(new Set(await separately(daemon.url, 6)).size).toBe(6);
    expect((await order(shop, daemon.url, "one")).made.status).toBe(201);
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
    expect(fronts.filter(isAlive)).toEqual([]);
  });

  test("serves with several processes as with one, replaces one that ends, and leaves none behind", {
    tags: ["slow"],
  }, async () => {
    const shop = await smallShop();
    const metricsPort = String(await freePort());
    const daemon = await startDaemon({ data: shop.data, flags: ["--workers", "2", "--metrics-port", metricsPort] });
    const [victim = 0, other = 0, ...more] = frontsOf(daemon);
    expect(more).toEqual([]);
    // Counted by each process alone, two of them would show the same number.
    const standings = await separately(daemon.url, 12);
    expect(new Set(standings).size).toBe(12);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/esimctl_http_requests_total\{[^}]*route="\/api\/v1\/oauth\/token"[^}]*\} 12\n/);
    expect(metrics).toContain("esimctl_queue_waiting");
    // One log file has the lines of all processes; lines are buffered before they are written.
    const logged = async () => JSON.stringify(await esimctlJson(["logs", "tail", "--data", shop.data]));
    await expect.poll(logged).toContain("/api/v1/oauth/token");
    const { made, read } = await order(shop, daemon.url, "one");
    expect(made.status).toBe(201);
    await expect.poll(async () => (await read()).body.status).toBe("fulfilled");

    process.kill(victim, "SIGKILL");
    await daemon.printed("a front ended by itself");
    expect((await order(shop, daemon.url, "two")).made.status).toBe(201);
    await expect.poll(() => frontsOf(daemon)).toHaveLength(2);
    const left = frontsOf(daemon);
    expect(left).not.toContain(victim);
    expect(left).toContain(other);

    const elsewhere = await smallShop();
    const refused = await refusedDaemon({ data: elsewhere.data, port: daemon.port, flags: ["--workers", "2"] });
    expect(refused.exitCode).toBe(1);
    const words = `${refused.stdout}${refused.stderr}`;
    expect(words.split("is taken by another process"), words).toHaveLength(2);

    await daemon.kill();
    await expect.poll(() => left.filter(isAlive)).toEqual([]);
    const next = await startDaemon({ data: shop.data, port: daemon.port, flags: ["--workers", "2"] });
    expect((await order(shop, next.url, "two")).made.status).toBe(200);
    const fronts = frontsOf(next);
    expect(fronts).toHaveLength(2);
    expect(await next.stop()).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("error") });
    expect(fronts.filter(isAlive)).toEqual([]);
  });

  test("restarts processes that cannot open the database, and stops promptly meanwhile", {
    tags: ["slow"],
  }, async () => {
    const shop = await smallShop();
    const daemon = await startDaemon({ data: shop.data, flags: ["--workers", "2"] });
    const { keyFile } = dataDirectory(shop.data);
    const away = `${keyFile}.away`;
    renameSync(keyFile, away);
    for (const front of frontsOf(daemon)) process.kill(front, "SIGKILL");
    expect(JSON.parse(await daemon.printed("a front could not start"))).toMatchObject({
      level: "error",
      message: expect.stringContaining("key file"),
    });
    renameSync(away, keyFile);
    await vi.waitFor(async () => expect((await order(shop, daemon.url, "three")).made.status).toBe(201), HANG_MS);
    const fronts = await eventually(
      () => frontsOf(daemon),
      ({ length }) => length === 2,
    );

    renameSync(keyFile, away);
    const before = failedStarts(daemon);
    for (const front of fronts) process.kill(front, "SIGKILL");
    await eventually(
      () => failedStarts(daemon),
      (count) => count > before,
    );
    const asked = performance.now();
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
    // A process that was waited for in vain took 35 s.
    expect(performance.now() - asked).toBeLessThan(30_000);
  });
});

import { describe, expect, test } from "vitest";
import { createMetrics } from "../src/daemon/metrics/metrics.ts";
import { guardedShop, key, refusalOf } from "./support/guarded-shop.ts";
import type { Caller } from "./support/platform.ts";

describe("pauses", () => {
  test("new orders are 503 with the reason; replays are answered, accepted orders go on", async () => {
    const { platform, live, desk, order, bulk } = await guardedShop();
    await platform.fund(live.partnerId, 100_000);
    const first = key();
    const placed = await order(live, 1, first);
    expect(await desk.json('orders pause --reason "price update"')).toMatchObject({
      paused: true,
      reason: "price update",
    });
    const refused = await order(live, 1);
    expect([...refusalOf(refused), refused.body.reason]).toEqual([503, "paused", "price update"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await order(live, 1, first)).status).toBe(200);
    expect((await bulk(live, [1])).map((one: { error: { code: string } }) => one.error.code)).toEqual(["paused"]);
    const shipped = `orders ship ${placed.body.order_number} --carrier C --tracking T`;
    expect(await desk.json(shipped)).toMatchObject({ status: "fulfilled" });
    const { paused } = await desk.json("status");
    expect(paused).toMatchObject([{ kind: "orders", reason: "price update" }]);
    expect((await desk.run("status")).stdout).toMatch(/New orders are paused since .*: price update/);
    expect(await desk.json("orders resume")).toEqual({ paused: false, reason: null, since: null });
    expect((await order(live, 1)).status).toBe(201);
  });

  test("orders that they refuse are counted by route, and nothing else is", async () => {
    const metrics = createMetrics();
    const { live, desk, order, products } = await guardedShop({ metrics });
    const counted = async () => {
      const lines = (await metrics.registry.metrics()).split("\n");
      return lines.filter((line) => line.startsWith("esimctl_http_paused_total{"));
    };
    const quote = () =>
      live.send("POST", "/api/v1/orders/quote", { line_items: [{ product_id: products.SIM, quantity: 1 }] });
    // The wallet is empty.
    expect((await order(live, 1)).status).toBe(402);
    expect(await counted()).toEqual([]);

    await desk.json('orders pause --reason "price update"');
    for (let sent = 0; sent < 2; sent++) expect((await order(live, 1)).status).toBe(503);
    expect((await quote()).status).toBe(503);
    expect((await live.get("/api/v1/orders")).status).toBe(200);
    const refused = [
      'esimctl_http_paused_total{route="/api/v1/orders"} 2',
      'esimctl_http_paused_total{route="/api/v1/orders/quote"} 1',
    ];
    await expect.poll(counted).toEqual(refused);
    expect(await metrics.registry.metrics()).toMatch(
      /^esimctl_http_requests_total\{method="POST",route="\/api\/v1\/orders",status="503"\} 2$/m,
    );

    await desk.json("orders resume");
    expect((await order(live, 1)).status).toBe(402);
    expect(await counted()).toEqual(refused);
  });

  test("a supplier's pause is for its products alone", async () => {
    const { platform, live, sandbox, desk, order, products } = await guardedShop();
    await platform.fund(live.partnerId, 100_000);
    await desk.json("suppliers set kestrel --adapter email --to orders@kestrel.example");
    expect(await desk.json('suppliers pause kestrel --reason "down"')).toMatchObject({ paused: { reason: "down" } });
    const mail = (caller: Caller, sku: string) => {
      const traveler = { customer_email: "a@example.com", customer_name: "A", activation_date: "2026-03-09" };
      const body = {
        line_items: [{ product_id: products[sku], quantity: 1 }],
        activation_requests: [{ product_id: products[sku], ...traveler }],
      };
      return caller.send("POST", "/api/v1/orders", body, key());
    };
    const refused = await mail(live, "MAIL");
    expect([...refusalOf(refused), refused.body.reason]).toEqual([503, "paused", "down"]);
    expect((await mail(sandbox, "MAIL")).status).toBe(503);
    expect((await order(live, 1)).status).toBe(201);
    expect((await desk.json("suppliers list")).data[0]).toMatchObject({ name: "kestrel", paused: { reason: "down" } });
    expect(await desk.json("suppliers resume kestrel")).toMatchObject({ paused: null });
    expect((await mail(live, "MAIL")).status).toBe(201);
    expect((await desk.refusal("suppliers pause unknown --reason x")).code).toBe("not_found");
    const { data } = await desk.json("audit list --target kestrel");
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      "suppliers.resume",
      "suppliers.pause",
      "suppliers.set",
    ]);
  });
});

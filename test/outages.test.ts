import { expect, test } from "vitest";
import { platformStatus } from "../src/core/insight/status.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { checkOutages, checkServing } from "../src/core/maintenance/state-checks.ts";
import { actOnOrder } from "../src/core/orders/act.ts";
import { BEAT_MS, recordBeat, recordStop } from "../src/core/platform/serving.ts";
import { orderInside } from "../src/core/supplier-requests/order-inside.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../src/daemon/gateways/signed-exchange.ts";
import { createSupplierGateway } from "../src/daemon/gateways/suppliers.ts";
import { addProducts } from "./support/catalog.ts";
import { testClock } from "./support/clock.ts";
import { startPlatform } from "./support/platform.ts";
import { openTestStore } from "./support/store.ts";
import { heldSupplier, placeOrder, suppliedEsim, supplyDue, useHttpSupplier } from "./support/supplies.ts";

const MINUTE_MS = 60_000;

test("a failing supplier is listed with its error and next attempt until it responds; retry is at once", async () => {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const lines: unknown[] = [];
  const log = {
    error: (line: unknown) => void lines.push(line),
    warn: (line: { event?: string }) => void (line.event !== undefined && lines.push(line)),
    info: (line: unknown) => void lines.push(line),
  };
  const exchange = createSignedExchange(clock.now);
  const gateway = createSupplierGateway({ exchange, mailer: createMailer(undefined), publicUrl: "http://esim.test" });
  const supply = () => supplyDue({ store, gateway, log });
  const { API } = await addProducts(store, [
    { sku: "API", product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: "makers", price_cents: 1 },
  ]);
  const partner = await platform.caller({ live: true });
  await platform.fund(partner.partnerId, 100);
  const supplier = await heldSupplier();
  await useHttpSupplier(store, "makers", supplier.url);
  const order = (await placeOrder(partner, API)) as OrderId;
  const began = clock.now();
  const failing = supply();
  await supplier.got(1);
  supplier.asked[0]?.answer({}, 502);
  await failing;

  const outage = {
    kind: "supplier",
    name: "makers",
    since: new Date(began).toISOString(),
    failures: 1,
    last_error: "it answered 502",
    next_attempt_at: new Date(began + MINUTE_MS).toISOString(),
    waiting: 1,
  };
  expect((await store.read(platformStatus, null)).outages).toMatchObject([outage]);
  expect((await store.read(orderInside, order)).outages).toMatchObject([outage]);
  expect(await store.read(checkOutages, null)).toMatchObject([
    { level: "warning", message: expect.stringMatching(/makers fails since .*\(1 in a row\): it answered 502; next/) },
  ]);
  clock.advance(5_000);
  const hurried = await store.write(actOnOrder, { id: order, act: { verb: "retry" }, actor: "operator" });
  expect(hurried.done.sent_again).toMatchObject([{ supplier: "makers" }]);
  supplier.answers({ outcome: "activated", esims: [suppliedEsim(1)] });
  await supply();
  expect((await partner.get(`/api/v1/orders/${order}`)).body.status).toBe("fulfilled");
  expect((await store.read(platformStatus, null)).outages).toEqual([]);
  expect(await store.read(checkOutages, null)).toMatchObject([{ level: "ok" }]);
  expect(lines).toEqual([
    { event: "supplier_failing", supplier: "makers", reason: "it answered 502" },
    { event: "supplier_recovered", supplier: "makers", ms: 5_000, failures: 1 },
  ]);
  await exchange.close();
});

test("status and doctor show whether a daemon serves, was stopped or is lost, and since when", async () => {
  const clock = testClock("2026-03-02T01:00:00.000Z");
  const { store } = await openTestStore(clock);
  const serving = async () => (await store.read(platformStatus, null)).serving;
  const level = async () => (await store.read(checkServing, { isLocked: true })).level;
  expect([await serving(), await level()]).toEqual([{ serving: false, since: null, nodes: [] }, "ok"]);
  const [one, other] = ["one", "other"].map((node) => ({
    node,
    url: `http://${node}`,
    since: clock.now(),
    alone: false,
  }));
  if (one === undefined || other === undefined) throw new Error("two daemons");
  await store.write(recordBeat, one);
  clock.advance(BEAT_MS);
  await store.write(recordBeat, one);
  await store.write(recordBeat, { ...other, since: clock.now() });
  expect(await serving()).toMatchObject({ serving: true, since: "2026-03-02T01:00:00.000Z" });
  expect(await level()).toBe("ok");
  await store.write(recordStop, one);
  clock.advance(BEAT_MS);
  expect(await serving()).toMatchObject({ serving: true, since: "2026-03-02T01:00:10.000Z" });
  clock.advance(4 * BEAT_MS);
  expect(await serving()).toMatchObject({
    serving: false,
    since: "2026-03-02T01:00:10.000Z",
    nodes: expect.arrayContaining([expect.objectContaining({ url: "http://other", state: "lost" })]),
  });
  expect(await store.read(checkServing, { isLocked: true })).toMatchObject({
    level: "warning",
    message: expect.stringContaining("without a stop"),
  });
  await store.write(recordBeat, { ...one, since: clock.now() });
  expect((await serving()).nodes).toHaveLength(1);
  // Killed and started again at once: on a data directory no other one can be serving.
  await store.write(recordBeat, { ...other, since: clock.now(), alone: true });
  expect((await serving()).nodes).toMatchObject([{ url: "http://other", state: "serving" }]);
});

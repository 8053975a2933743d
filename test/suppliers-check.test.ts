import { expect, onTestFinished, test } from "vitest";
import { currentConditions } from "../src/core/alerts/conditions.ts";
import { listAudit } from "../src/core/audit/list.ts";
import { writeSettings } from "../src/core/platform/settings.ts";
import { passageOf } from "../src/core/supply/circuit.ts";
import { createProviders } from "../src/daemon/gateways/suppliers/providers.ts";
import { createBalances } from "../src/daemon/workers/balances.ts";
import { supplierDesk } from "./support/supplier-desk.ts";

const view = { host: "alpha", own: [], knowsCron: false };

test("a provider is set with its credential alone, and shown with where it calls back", async () => {
  const { platform, desk } = await supplierDesk();
  const shown = await desk.json("suppliers show ea");
  expect(shown).toMatchObject({
    ...{ name: "ea", adapter: "esimaccess", has_secret: true, low_balance: "20.0000", balance: null },
    ...{ markup: null, sku_prefix: null, synced_at: null, circuit: "closed", circuit_since: null },
  });
  expect(shown.callback_path).toMatch(/^\/callbacks\/suppliers\/ea\/[A-Za-z0-9]{40}$/);
  await platform.store.write(writeSettings, { public_url: "https://esim.example.com" });
  const after = await desk.json("suppliers show ea");
  expect(after.callback_url).toBe(`https://esim.example.com${shown.callback_path}`);
  expect((await desk.run("suppliers show ea")).stdout).toContain(after.callback_url);
  // The address stays when the provider is set again.
  await desk.json("suppliers set ea --low-balance 50");
  expect(await desk.json("suppliers show ea")).toMatchObject({ ...after, low_balance: "50.0000", updated_at: /./ });
});

test("a path without a public address says so", async () => {
  const { platform, desk } = await supplierDesk();
  await platform.store.write(writeSettings, { public_url: null });
  expect(await desk.json("suppliers show ea")).toMatchObject({ callback_url: null });
  expect((await desk.run("suppliers show ea")).stdout).toContain("the public address is not known");
});

test("providers have addresses of their own, and secrets in their own forms", async () => {
  const { desk } = await supplierDesk();
  await desk.json("suppliers set go --adapter esimgo --secret KEY-1");
  expect(await desk.json("suppliers show go")).toMatchObject({ url: "https://api.esim-go.com/v2.5" });
  expect(await desk.refusal("suppliers set ai --adapter airalo --secret only-one-part")).toMatchObject({
    message: expect.stringContaining("CLIENT_ID:CLIENT_SECRET"),
  });
  // Neither address nor secret of one provider is the next one's.
  expect(await desk.refusal("suppliers set go --adapter airalo")).toMatchObject({
    message: expect.stringContaining("secret"),
  });
  await desk.json("suppliers set go --adapter airalo --secret ID:SECRET");
  expect(await desk.json("suppliers show go")).toMatchObject({ url: "https://partners-api.airalo.com/v2" });
  expect(await desk.refusal("suppliers set go --low-balance 1.23456")).toMatchObject({
    message: expect.stringContaining("plain decimal"),
  });
  await desk.json("suppliers set northwind --adapter http --url http://127.0.0.1:9/x --secret sixteen-characters");
  expect((await desk.refusal("suppliers set northwind --low-balance 5")).message).toContain("providers");
});

test("check proves credential, balance and clock; a wrong credential is exit 1", async () => {
  const { desk, provider } = await supplierDesk();
  const proved = await desk.json("suppliers check ea");
  expect(proved).toMatchObject({ ok: true, supplier: "ea", adapter: "esimaccess", latency_ms: expect.any(Number) });
  expect(proved.checks.map(({ name }: { name: string }) => name)).toEqual(["credential", "balance", "clock"]);
  await desk.json(`suppliers set ea --secret ${provider.secret}x`);
  const wrong = await desk.run("suppliers check ea --json");
  expect([wrong.exitCode, JSON.parse(wrong.stdout)]).toMatchObject([1, { ok: false }]);
  expect((await desk.run("suppliers check ea")).stdout).toContain("failed");
  await provider.close();
  expect((await desk.run("suppliers check ea --json")).exitCode).toBe(1);
  expect(await desk.run("suppliers balance")).toMatchObject({ exitCode: 1, stdout: "No balance is known." });
  await desk.json("suppliers set kestrel --adapter email --to orders@kestrel.example");
  expect(await desk.refusal("suppliers check kestrel")).toMatchObject({ exitCode: 1, code: "no_provider" });
  expect((await desk.refusal("suppliers check none")).code).toBe("not_found");
});

test("a low balance closes the supplier and alarms; a balance that is back ends both", async () => {
  const { platform, desk, hold } = await supplierDesk();
  const { store } = platform;
  const alarms = async () =>
    (await store.read(currentConditions, view)).map(({ kind, subject, detail }) => `${kind} ${subject}: ${detail}`);
  expect(await desk.json("suppliers balance")).toMatchObject({
    data: [{ supplier: "ea", currency: "USD", balance: "1000.0000", low: false }],
    count: 1,
  });
  expect([await alarms(), await store.read(passageOf, "ea")]).toEqual([[], { open: false }]);

  hold(125_000);
  expect(await desk.json("suppliers balance ea")).toMatchObject({ data: [{ balance: "12.5000", low: true }] });
  expect(await alarms()).toEqual(["supplier.low ea: 12.5000 USD, less than 20.0000 USD"]);
  expect(await store.read(passageOf, "ea")).toMatchObject({ open: true, until: null });
  expect(await desk.json("suppliers show ea")).toMatchObject({
    circuit: "open",
    circuit_reason: "balance low: 12.5000 USD, less than 20.0000 USD",
  });
  // Another bound is another answer, at once.
  await desk.json("suppliers set ea --low-balance 10");
  expect([await alarms(), await store.read(passageOf, "ea")]).toEqual([[], { open: false }]);
  await desk.json("suppliers set ea --low-balance 20");
  expect(await store.read(passageOf, "ea")).toMatchObject({ open: true });
  hold(null);
  await desk.json("suppliers balance");
  expect([await alarms(), await store.read(passageOf, "ea")]).toEqual([[], { open: false }]);
  const trail = await store.read(listAudit, { target: "ea", limit: 20 });
  const moves = trail.filter(({ action }) => action === "suppliers.circuit").toReversed();
  expect(moves.map(({ changes }) => changes?.map(({ to }) => to).join())).toEqual(["open", "closed", "open", "closed"]);
});

test("the daemon asks by itself; one that gives no answer hides no other", async () => {
  const { platform, desk, provider, hold } = await supplierDesk();
  const { store } = platform;
  await desk.json(`suppliers set lost --adapter esimaccess --url http://127.0.0.1:9/api --secret A:B`);
  const providers = createProviders({ store, now: Date.now });
  onTestFinished(() => providers.close());
  const warned: unknown[] = [];
  const log = { error: console.error, warn: (about: object) => void warned.push(about) };
  let asks = true;
  const step = createBalances({ store, providers, log, asks: () => asks });
  hold(99_000);
  await step(new AbortController().signal);
  expect(await desk.json("suppliers show ea")).toMatchObject({ balance: "9.9000", circuit: "open" });
  expect(warned).toMatchObject([{ supplier: "lost" }]);
  asks = false;
  hold(null);
  const { calls } = await provider.counts();
  await step(new AbortController().signal);
  expect((await provider.counts()).calls).toBe(calls);
  const both = await desk.run("suppliers balance --json");
  expect([both.exitCode, JSON.parse(both.stdout).count]).toEqual([3, 1]);
  expect(both.stderr).toContain("lost:");
});

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { attemptsOfActivation } from "../src/core/activations/reveal.ts";
import type { Store } from "../src/core/store/store.ts";
import { prepareExchanges } from "../src/daemon/workers/activations.ts";
import { kinds } from "./support/activations.ts";
import { MINUTE, withHttpCarrier } from "./support/carrier.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { eventually } from "./support/hangs.ts";
import { forAllTests } from "./support/owner.ts";
import { startPlatform } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { checkout, type Launched, launchCommand } from "./support/process.ts";
import type { TestStore } from "./support/store.ts";
import { heldSupplier, placeOrder, suppliedEsim, supplyWorker, useHttpSupplier } from "./support/supplies.ts";
import type { WorkerOptions } from "./support/worker-program.ts";

/** The worker's program in one file, beside the packages that it loads: hundreds of sources take seconds to load. */
const program = forAllTests(async (owner) => {
  const built = join(checkout, "dist", `worker-program-${process.pid}.mjs`);
  owner(() => rmSync(built, { force: true }));
  const source = join(checkout, "test", "support", "worker-program.ts");
  const shape = { bundle: true, packages: "external", platform: "node", format: "esm" } as const;
  await build({ entryPoints: [source], outfile: built, ...shape });
  return built;
});

/** One step of a worker on the same database, in a process of its own that has the time `now`. */
function workerProcess(
  { location, masterKey }: Pick<TestStore, "location" | "masterKey">,
  worker: WorkerOptions["worker"],
  now: number,
): Launched {
  const options: WorkerOptions = { worker, location, masterKey: masterKey.toString("base64"), now };
  const env = { NODE_COMPILE_CACHE: join(checkout, "dist", "cache") };
  return launchCommand(process.execPath, [program(), JSON.stringify(options)], { env });
}

/** Stops a process between two instructions, as a machine that is suspended does; `resume` runs it to its end. */
async function paused({ child, pid, printed, ended }: Launched, claimed: number) {
  expect(await printed("begun")).toBe(`begun ${claimed}`);
  child.kill("SIGSTOP");
  // The state follows the name, which is in parentheses.
  const state = () => /^\d+ \(.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
  await eventually(state, (letter) => letter === "T");
  return {
    async resume() {
      child.kill("SIGCONT");
      await printed("recorded");
      expect(await ended).toMatchObject({ exitCode: 0, signal: null });
    },
  };
}

/** What the worker that took over gets for each order, and then the suspended one: it would change the order. */
const orders: { first: object; late: [body: object, status: number]; status: string }[] = [
  {
    first: { outcome: "activated", esims: [suppliedEsim(0)] },
    late: [{ outcome: "accepted" }, 200],
    status: "fulfilled",
  },
  {
    first: { outcome: "accepted" },
    late: [{ outcome: "refused", error_type: "no", error_message: "No" }, 422],
    status: "paid",
  },
  { first: { outcome: "accepted" }, late: [{}, 503], status: "paid" },
];

/** The ID of the one item of each order. */
async function itemsOf(store: Store, ids: readonly string[]): Promise<(string | undefined)[]> {
  const items = await store.read(async (q) => q.db.select().from(q.t.orderItems), null);
  return ids.map((id) => items.find(({ order_id }) => order_id === id)?.id);
}

test("a supplier's worker suspended past its leases records its responses as attempts only", {
  tags: ["slow"],
}, async () => {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const products = await addProducts(store, suppliedProducts);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 100_000);
  const supplier = await heldSupplier();
  await useHttpSupplier(store, "northwind", supplier.url);
  const count = orders.length;
  const ids: string[] = [];
  for (const _ of orders) ids.push(await placeOrder(caller, products.API));
  await platform.fulfill();
  const suspended = workerProcess(platform, "supplies", clock.now());
  await supplier.got(count);
  const { resume } = await paused(suspended, count);

  clock.advance(2 * MINUTE);
  const other = supplyWorker(await platform.again(), clock.now);
  await other.step(new AbortController().signal);
  await supplier.got(2 * count);
  const references = await itemsOf(store, ids);
  const asked = (at: number) => supplier.asked.filter(({ reference }) => reference === references[at]);
  // Each item was asked for by both, the suspended one before.
  for (const [at, { first }] of orders.entries()) asked(at)[1]?.answer(first);
  await other.idle();
  const fresh = await platform.credential("partner-1", { live: true });
  const shown = () => Promise.all(ids.map(async (id) => (await fresh.get(`/api/v1/orders/${id}`)).body));
  const recorded = await shown();
  expect(recorded.map(({ status }) => status)).toEqual(orders.map(({ status }) => status));

  for (const [at, { late }] of orders.entries()) asked(at)[0]?.answer(...late);
  await resume();
  expect(await shown()).toEqual(recorded);
  const attempts = await store.read(async (q) => q.db.select().from(q.t.itemAttempts), null);
  expect(attempts).toHaveLength(2 * count);
  // Nor is any item due again.
  clock.advance(12 * 60 * MINUTE);
  await settled(other);
  expect(supplier.asked).toHaveLength(2 * count);
});

test("a carrier's worker suspended past its lease records its response as an attempt only", {
  tags: ["slow"],
}, async () => {
  const platform = await withHttpCarrier();
  const { carrier, due, clock, store, show, partner, events, work } = platform;
  const held: ((body: object) => void)[] = [];
  carrier.answers((response) => {
    held.push((body) => void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)));
  });
  const id = await due();
  await prepareExchanges(store, new AbortController().signal);
  const late = workerProcess(platform, "activations", clock.now());
  await eventually(
    () => held.length,
    (count) => count === 1,
  );
  const { resume } = await paused(late, 1);

  clock.advance(MINUTE);
  carrier.answers({ body: { outcome: "accepted" } });
  expect(await work()).toMatchObject({ exchanged: 1 });
  const shown = async () => ({ request: await show(partner, id), events: kinds(await events(id)) });
  const recorded = await shown();
  expect(recorded.request).toMatchObject({ status: "processing" });

  held[0]?.({ outcome: "refused", error_type: "no" });
  await resume();
  expect(await shown()).toEqual(recorded);
  const outcomes = (await store.read(attemptsOfActivation, id)).map((attempt) => attempt.outcome);
  expect(outcomes).toHaveLength(2);
  expect(outcomes).toContain("accepted");
  // Nor is it due again.
  clock.advance(12 * 60 * MINUTE);
  expect(await work()).toMatchObject({ exchanged: 0 });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { moveStock } from "../src/core/esims/move-stock.ts";
import { stockLevels } from "../src/core/esims/stock.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import type { Read } from "../src/core/store/store.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { startPlatform } from "./support/platform.ts";
import { placeOrder } from "./support/supplies.ts";

test("stock moves between products: counted exactly, audited, refused when insufficient", async () => {
  const platform = await startPlatform();
  const { store } = platform;
  await addProducts(store, [{ sku: "A" }, { sku: "B" }, { sku: "CARD", delivery_method: "shipping" }]);
  const iccids = await addStock(store, "A", 5);
  await addStock(store, "B", 1);
  const desk = deskOf(platform);
  const moved = await desk.json("stock move --from A --to B --count 3");
  expect(moved).toEqual({ moved: 3, from: { sku: "A", available: 2 }, to: { sku: "B", available: 4 } });
  // Orders take the oldest, so the newest move.
  const esims = await store.read((q: Read) => q.db.select().from(q.t.esims).orderBy(q.t.esims.id), null);
  const own = (at: number) => esims.find(({ iccid }) => iccid === iccids[at])?.product_id;
  expect([own(1) === own(0), own(2) === own(0), own(4) === own(2)]).toEqual([true, false, true]);
  const audit = await desk.json("audit list --all");
  const lines = audit.data.filter(({ action }: { action: string }) => action === "stock.move");
  expect(lines).toMatchObject([{ note: "3 eSIMs A → B" }, { note: "3 eSIMs A → B" }]);
  expect(new Set(lines.map(({ target_id }: { target_id: string }) => target_id)).size).toBe(2);
  expect(await desk.refusal("stock move --from A --to B --count 3")).toMatchObject({
    exitCode: 1,
    code: "conflict",
    message: "A has 2 free eSIMs, fewer than 3.",
  });
  for (const [line, code] of [
    ["--from A --to A --count 1", "validation"],
    ["--from A --to CARD --count 1", "conflict"],
    ["--from NONE --to A --count 1", "not_found"],
  ]) {
    expect([line, (await desk.refusal(`stock move ${line}`)).code]).toEqual([line, code]);
  }
  expect(await desk.refusal("stock move --from A --to B --count 0")).toMatchObject({ exitCode: 2 });
  expect(await desk.refusal("stock move --from A --count 1")).toMatchObject({ exitCode: 2 });
});

const act = fc.oneof(
  fc.record({
    kind: fc.constant("order" as const),
    sku: fc.constantFrom("A", "B"),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    kind: fc.constant("move" as const),
    sku: fc.constantFrom("A", "B"),
    count: fc.integer({ min: 1, max: 6 }),
  }),
);

test("during orders of both products every eSIM is moved or sold once, and the counters stay exact", async () => {
  const platform = await startPlatform();
  const { store } = platform;
  const products = await addProducts(store, [{ sku: "A" }, { sku: "B" }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 100_000_000);
  const other = await platform.again();
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 12 }), async (acts) => {
      for (const sku of ["A", "B"]) await addStock(store, sku, 8);
      const work = acts.map(({ kind, sku, count }, at) =>
        kind === "order"
          ? placeOrder(caller, products[sku], count).then(() => platform.fulfill())
          : (at % 2 === 0 ? store : other)
              .write(moveStock, { from: sku, to: sku === "A" ? "B" : "A", count, actor: "test" })
              .catch(refused),
      );
      await Promise.all(work);
      await platform.fulfill();
      const esims = await store.read((q: Read) => q.db.select().from(q.t.esims), null);
      const lines = await store.read((q: Read) => q.db.select().from(q.t.orderLines), null);
      for (const line of lines) {
        const given = esims.filter(({ line_id }) => line_id === line.id);
        expect(given.length).toBe(line.assigned);
        for (const { product_id } of given) expect(product_id).toBe(line.product_id);
      }
      for (const { sku, available } of await store.read(stockLevels, { below: null })) {
        const free = esims.filter((esim) => esim.product_id === products[sku] && esim.order_id === null);
        expect([sku, available]).toEqual([sku, free.length]);
      }
    }),
    { numRuns: 4 },
  );
});

/** Only what is short may be refused, or out of stock for an order. */
function refused(error: unknown): void {
  if (!(error instanceof Problem) || error.slug !== "conflict") throw error;
}

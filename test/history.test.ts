import { expect, test } from "vitest";
import { moveActivation } from "../src/core/activations/operator.ts";
import { listAudit } from "../src/core/audit/list.ts";
import { importProducts, updateProduct } from "../src/core/catalog/import.ts";
import { verifyChains } from "../src/core/evidence/verify.ts";
import { findStory } from "../src/core/find/find.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { ACTIVATIONS } from "./support/activations.ts";
import { MINUTE, withHttpCarrier } from "./support/carrier.ts";
import { addProducts, product } from "./support/catalog.ts";
import { placeOrder } from "./support/supplies.ts";

/** What the audit trail has of an object, oldest first: each act with its changes. */
function changesFrom(lines: Awaited<ReturnType<typeof listAudit>>) {
  return lines
    .toReversed()
    .map(({ action, changes }) => [action, (changes ?? []).map(({ field, from, to }) => `${field}: ${from} → ${to}`)]);
}

test("the timeline of an activation keeps the date as submitted, each change of it, and who did what", async () => {
  const { carrier, due, partner, store, clock, work } = await withHttpCarrier();
  carrier.answers({ status: 503, body: {} });
  const id = await due({ activation_date: "2026-03-09" });
  for (const requested_activation_date of ["2026-03-11", "2026-03-02"]) {
    const body = { requested_activation_date, note: "Grandma Rosa lands late" };
    expect((await partner.send("PATCH", `${ACTIVATIONS}/${id}`, body)).status).toBe(200);
    clock.advance(MINUTE);
  }
  for (let attempt = 0; attempt < 6; attempt++) {
    await work();
    clock.advance(20 * MINUTE);
  }
  await store.write(moveActivation, { id, move: { verb: "retry" }, actor: "operator" });

  const { timeline } = await store.read(findStory, id);
  const [first] = timeline.filter(({ kind }) => kind === "activation");
  expect(first?.text).toMatch(/ asked for, date 2026-03-09, by client:sk_test_/);
  const audit = await store.read(listAudit, { target: id, limit: 50 });
  expect(changesFrom(audit)).toEqual([
    ["activations.edit", ["requested_activation_date: 2026-03-09 → 2026-03-11"]],
    ["activations.edit", ["requested_activation_date: 2026-03-11 → 2026-03-02"]],
    ["activations.hold", ["status: processing → failed", "processing_status: processing → manual_required"]],
    ["activations.retry", ["status: failed → processing", "processing_status: manual_required → processing"]],
  ]);
  expect(timeline.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(
      /^client:sk_test_\w+: activations.edit \(requested_activation_date: 2026-03-09 → 2026-03-11, note\)$/,
    ),
  );
  // The partner's note may name the traveler, and the trail is never erased.
  expect(JSON.stringify(audit)).not.toContain("Rosa");
});

test("orders name who placed them; old prices, states and limits are kept", async () => {
  const { store, caller, fund } = await withHttpCarrier();
  const actor = "operator";
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 1250 }]);
  await store.write(updateProduct, { sku: "EU5", price_cents: 990, actor });
  await store.write(importProducts, { products: [product({ sku: "EU5", price_cents: 880 })], actor });
  const products = await store.read(listAudit, { target: EU5, limit: 10 });
  expect(changesFrom(products)).toEqual([
    ["products.update", ["price_cents: 1250 → 990"]],
    ["products.update", ["price_cents: 990 → 880"]],
  ]);

  const buyer = await caller({ live: true, slug: "buyer" });
  await fund(buyer.partnerId, 10_000);
  const order = await placeOrder(buyer, EU5);
  const { timeline } = await store.read(findStory, order);
  expect(timeline.find(({ kind }) => kind === "order")?.text).toMatch(/ 8\.80 AUD, by client:sk_live_/);

  await store.write(updatePartner, { slug: "buyer", rateLimit: 90, bounds: { max_pool: 5 }, actor });
  const [limits] = changesFrom(await store.read(listAudit, { target: buyer.partnerId, limit: 1 }));
  expect(limits).toEqual(["partners.update", ["max_pool: null → 5", "rate_limit: null → 90"]]);
  expect(await store.read(verifyChains, { keyed: true })).toMatchObject({ ok: true });
});

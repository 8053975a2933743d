import fc from "fast-check";
import { expect, test } from "vitest";
import { checkWallets } from "../src/core/wallet/check.ts";
import { cancelFunding, creditFunding, requestFunding } from "../src/core/wallet/funding.ts";
import { deskOf } from "./support/desk.ts";
import { startPlatform } from "./support/platform.ts";

const PATH = "/api/v1/wallet/funding-requests";
const NO_MINIMUM = { minimum: () => null };

test("a partner announces money, and the operator credits it once, with its reference in the ledger", async () => {
  const platform = await startPlatform();
  const desk = deskOf(platform);
  const caller = await platform.caller({ slug: "acme" });
  const { status, body } = await caller.send("POST", PATH, { amount_cents: 100_000, currency: "AUD" });
  expect([status, body]).toEqual([
    201,
    {
      reference: expect.stringMatching(/^FND-[0-9A-Z]{8}$/),
      amount_cents: 100_000,
      currency: "AUD",
      status: "requested",
      requested_by: expect.stringContaining(caller.clientId),
      created_at: "2026-03-02T01:00:00.000Z",
      settled_at: null,
    },
  ]);
  const listed = await desk.json("wallet funding list --status requested");
  expect(listed).toEqual({ data: [{ ...body, partner: "acme" }], count: 1 });
  const credited = await desk.json(`wallet funding credit ${body.reference.toLowerCase()}`);
  expect(credited).toMatchObject({ reference: body.reference, status: "credited", balance_after_cents: 100_000 });
  expect((await caller.get("/api/v1/wallet/transactions")).body.data).toMatchObject([
    { id: credited.transaction_id, kind: "credit", amount_cents: 100_000, reference: body.reference },
  ]);
  for (const act of ["credit", "cancel"]) {
    const refused = await desk.refusal(`wallet funding ${act} ${body.reference}`);
    expect(refused).toMatchObject({ exitCode: 1, code: "conflict" });
    expect(refused.message).toMatch(`${body.reference} was credited on 20`);
  }
  expect((await caller.get("/api/v1/balance")).body.balances).toMatchObject([{ balance_cents: 100_000 }]);
  expect((await caller.get(PATH)).body.data).toMatchObject([{ status: "credited" }]);
});

test("a request that is cancelled moves no money; one whose reference was credited by hand is refused", async () => {
  const platform = await startPlatform();
  const desk = deskOf(platform);
  const caller = await platform.caller({ slug: "acme" });
  const announce = async () => (await caller.send("POST", PATH, { amount_cents: 500, currency: "EUR" })).body.reference;
  const [one, other] = [await announce(), await announce()];
  expect(await desk.json(`wallet funding cancel ${one}`)).toMatchObject({ reference: one, status: "cancelled" });
  expect(await desk.refusal(`wallet funding credit ${one}`)).toMatchObject({ exitCode: 1, code: "conflict" });
  await desk.json(`wallet credit --partner acme --amount 5.00 --currency EUR --reference ${other}`);
  expect(await desk.refusal(`wallet funding credit ${other}`)).toMatchObject({ exitCode: 1, code: "duplicate" });
  expect((await caller.get("/api/v1/balance")).body.balances).toMatchObject([{ balance_cents: 500 }]);
  expect(await desk.refusal("wallet funding credit FND-NOSUCH00")).toMatchObject({ code: "not_found" });
});

test.each([
  [{ amount_cents: 0, currency: "AUD" }, "amount_cents"],
  [{ amount_cents: -5, currency: "AUD" }, "amount_cents"],
  [{ amount_cents: 1.5, currency: "AUD" }, "amount_cents"],
  [{ amount_cents: "100", currency: "AUD" }, "amount_cents"],
  [{ amount_cents: 100, currency: "AUS" }, "currency"],
  [{ amount_cents: 100 }, "currency"],
])("%o is refused by name", async (asked, field) => {
  const caller = await (await startPlatform()).caller();
  const { status, body } = await caller.send("POST", PATH, asked);
  expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
});

test("partners see their own requests alone, page by page, and announce 20 at most that wait", async () => {
  const platform = await startPlatform();
  const [acme, beta] = [await platform.caller({ slug: "acme" }), await platform.caller({ slug: "beta" })];
  for (let at = 0; at < 20; at++) {
    platform.clock.advance(1);
    await acme.send("POST", PATH, { amount_cents: 100 + at, currency: "AUD" });
  }
  const refused = await acme.send("POST", PATH, { amount_cents: 1, currency: "AUD" });
  expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining("20 funding requests wait") } });
  expect((await beta.get(PATH)).body).toMatchObject({ data: [], pagination: { has_more: false } });
  const first = (await acme.get(`${PATH}?limit=15`)).body;
  const rest = (await acme.get(`${PATH}?limit=15&cursor=${first.pagination.next_cursor}`)).body;
  const amounts = [...first.data, ...rest.data].map(({ amount_cents }: { amount_cents: number }) => amount_cents);
  expect(amounts).toEqual(Array.from({ length: 20 }, (_, at) => 119 - at));
  const desk = deskOf(platform);
  expect(await desk.json("wallet funding list --partner acme --limit 3")).toMatchObject({ count: 3 });
  expect(await desk.json("wallet funding list --partner beta")).toEqual({ data: [], count: 0 });
  expect(await desk.refusal("wallet funding list FND-1")).toMatchObject({ exitCode: 2 });
  expect(await desk.refusal("wallet funding credit")).toMatchObject({ exitCode: 2 });
  expect(await desk.refusal("wallet funding pay FND-1")).toMatchObject({ exitCode: 2 });
});

test("however requests are settled at once, each that was credited is in the wallet once", async () => {
  const platform = await startPlatform();
  const { partnerId } = await platform.caller();
  const stores = [platform.store, await platform.again()];
  const acts = fc.array(fc.record({ at: fc.nat(4), act: fc.constantFrom("credit", "cancel"), store: fc.nat(1) }), {
    minLength: 1,
    maxLength: 12,
  });
  let expected = 0;
  const property = fc.asyncProperty(acts, async (drawn) => {
    const made = [1, 2, 3, 4, 5].map((amount) =>
      platform.store.write(requestFunding, { partnerId, amount, currency: "AUD", actor: "test" }),
    );
    const requests = await Promise.all(made);
    const settled = await Promise.allSettled(
      drawn.map(({ at, act, store }) => {
        const input = { reference: requests[at]?.reference ?? "", actor: "test" };
        const to = stores[store] ?? platform.store;
        return act === "credit" ? to.write(creditFunding, input) : to.write(cancelFunding, input).then(() => null);
      }),
    );
    for (const one of settled) {
      if (one.status === "rejected") expect(one.reason).toMatchObject({ slug: "conflict" });
      else expected += one.value?.request.amount_cents ?? 0;
    }
    // None is left to count against the bound of those that wait.
    for (const { reference } of requests) {
      await platform.store.write(cancelFunding, { reference, actor: "test" }).catch(() => undefined);
    }
    const { wallets } = await platform.store.read(checkWallets, NO_MINIMUM);
    expect(wallets.reduce((sum, { balance_cents }) => sum + balance_cents, 0)).toBe(expected);
  });
  await fc.assert(property, { numRuns: 10 });
  expect(await platform.store.read(checkWallets, NO_MINIMUM)).toMatchObject({ ok: true });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { minorUnits } from "../src/core/kernel/money.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { create, lines } from "./support/quotes.ts";
import { onPostgres, rewind } from "./support/store.ts";

interface Transaction {
  id: string;
  kind: string;
  currency: string;
  amount_cents: number;
  balance_after_cents: number;
}

const path = "/api/v1/wallet/transactions";

/** Every transaction of the list, page by page. */
async function all(caller: Caller, query = "", limit = 7): Promise<Transaction[]> {
  const rows: Transaction[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await caller.get(`${path}?limit=${limit}&${query}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    rows.push(...body.data);
    if (!body.pagination.has_more) return rows;
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
}

test("what moved the wallet is listed, newest first, signed and with the balance after it", async () => {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const { EU5, JPY } = await addProducts(store, [
    { sku: "EU5", price_cents: 100 },
    { sku: "JPY", price_cents: 70, currency: "JPY" },
  ]);
  await addStock(store, "EU5", 1);
  const caller = await platform.caller({ live: true });
  const funding = { partnerId: caller.partnerId, currency: "AUD", actor: "test" };
  await store.write(creditWallet, { ...funding, amount: minorUnits(1_000), reference: "INV-1" });
  await store.write(creditWallet, { ...funding, currency: "JPY", amount: minorUnits(500) });
  clock.advance(60_000);
  const { body: order } = await create(caller, lines([EU5, 3]));
  await create(caller, lines([JPY, 1]));
  await store.write(cancelOrder, { id: order.id, reason: "changed", actor: "test" });
  clock.advance(60_000);
  await store.write(debitWallet, { ...funding, amount: minorUnits(250), reference: "OUT-1" });
  const { body } = await caller.get(path);
  const { id: order_id, order_number } = order;
  const none = { order_id: null, order_number: null };
  expect(body.pagination).toEqual({ has_more: false, next_cursor: null, count: 6 });
  expect(body.data).toEqual([
    {
      id: expect.any(String),
      kind: "debit",
      currency: "AUD",
      amount_cents: -250,
      balance_after_cents: 750,
      reference: "OUT-1",
      ...none,
      created_at: "2026-03-02T01:02:00.000Z",
    },
    expect.objectContaining({ kind: "refund", amount_cents: 300, balance_after_cents: 1_000, order_id, order_number }),
    expect.objectContaining({ kind: "charge", currency: "JPY", amount_cents: -70, balance_after_cents: 430 }),
    expect.objectContaining({ kind: "charge", amount_cents: -300, balance_after_cents: 700, order_id, order_number }),
    expect.objectContaining({ kind: "credit", currency: "JPY", amount_cents: 500, balance_after_cents: 500, ...none }),
    expect.objectContaining({ kind: "credit", amount_cents: 1_000, balance_after_cents: 1_000, reference: "INV-1" }),
  ]);
  const kinds = async (query: string) => (await all(caller, query, 2)).map(({ kind }) => kind);
  expect(await kinds("currency=JPY")).toEqual(["charge", "credit"]);
  expect(await kinds("from=2026-03-02T01:01:00Z&to=2026-03-02T01:02:00Z")).toEqual(["refund", "charge", "charge"]);
  expect(await kinds("from=2026-03-02T01:02:00Z")).toEqual(["debit"]);
  expect(await kinds("to=2026-03-02T01:00:00Z")).toEqual([]);
  expect(await caller.get(`${path}?currency=XXQ`)).toMatchObject({
    status: 400,
    body: { errors: { currency: [/ISO/] } },
  });
  expect(await caller.get(`${path}?from=2026-02-30T00:00:00Z`)).toMatchObject({ status: 400 });
  const { body: first } = await caller.get(`${path}?limit=1`);
  const moved = await caller.get(`${path}?limit=1&currency=AUD&cursor=${first.pagination.next_cursor}`);
  expect(moved).toMatchObject({ status: 400, body: { title: "Invalid Cursor" } });
  // The sandbox shares the wallet; another partner sees nothing of it.
  const sandbox = await platform.credential("partner-1", {});
  expect(await all(sandbox)).toEqual(await all(caller));
  expect(await all(await platform.caller({ live: true }))).toEqual([]);
  await atTheTerminal(platform, caller, body.data);
});

/** The same list in the terminal, at a server and on the operator's data. */
async function atTheTerminal(platform: Platform, caller: Caller, expected: Transaction[]): Promise<void> {
  const desk = deskOf(platform);
  const listed = await desk.at(caller).json("wallet transactions --currency AUD --limit 2");
  expect(listed).toMatchObject({ data: [{ kind: "debit" }, { kind: "refund" }], pagination: { has_more: true } });
  expect(await desk.json("wallet transactions --partner partner-1 --all")).toMatchObject({ data: expected });
  const { stdout } = await desk.at(caller).run("wallet transactions --from 2026-03-02T01:02:00Z");
  expect(stdout).toMatch(/debit +-2\.50 AUD +7\.50 AUD/);
  expect((await desk.at(caller).run("wallet transactions --all --csv")).stdout.split("\n")).toHaveLength(7);
}

test("every balance after is the one before plus the amount, up to what the wallet holds", async () => {
  const platform = await startPlatform();
  const step = fc.tuple(fc.constantFrom("AUD", "EUR"), fc.integer({ min: -900, max: 1_000 }), fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const caller = await platform.caller();
      const given = { partnerId: caller.partnerId, actor: "test" };
      for (const [currency, cents, later] of steps) {
        if (later) platform.clock.advance(1);
        const amount = minorUnits(Math.max(1, Math.abs(cents)));
        const command = cents < 0 ? debitWallet : creditWallet;
        await platform.store.write(command, { ...given, currency, amount }).catch(() => null);
      }
      const balances = new Map<string, number>();
      for (const { currency, amount_cents, balance_after_cents } of (await all(caller)).reverse()) {
        const after = (balances.get(currency) ?? 0) + amount_cents;
        expect(balance_after_cents).toBe(after);
        balances.set(currency, after);
      }
      for (const { currency, balance_cents } of (await caller.get("/api/v1/balance")).body.balances) {
        expect(balances.get(currency)).toBe(balance_cents);
      }
    }),
    { numRuns: 25 },
  );
});

test("transactions from before the column get the balance after them", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const given = { partnerId: caller.partnerId, actor: "test" };
  for (const currency of ["AUD", "EUR", "AUD"]) {
    await platform.store.write(creditWallet, { ...given, currency, amount: minorUnits(400) });
    await platform.store.write(debitWallet, { ...given, currency, amount: minorUnits(150) });
  }
  const before = await all(caller);
  expect(before[0]).toMatchObject({ balance_after_cents: 500 });
  const trigger = `ledger_transactions_no_update${onPostgres ? " ON ledger_transactions" : ""}`;
  const call = onPostgres ? "EXECUTE FUNCTION refuse_ledger_change()" : "BEGIN SELECT RAISE(ABORT, 'no'); END";
  await rewind(platform.location, "9007_ledger_balances", [
    `DROP TRIGGER ${trigger}`,
    "UPDATE ledger_transactions SET balance_after_cents = 0",
    `CREATE TRIGGER ledger_transactions_no_update BEFORE UPDATE ON ledger_transactions ${call}`,
  ]);
  const store = await platform.again();
  expect(await all(caller)).toEqual(before);
  const changed = store.write(async (tx) => {
    await tx.db.update(tx.t.ledgerTransactions).set({ balance_after_cents: 1 });
  }, null);
  await expect(changed).rejects.toThrow();
});

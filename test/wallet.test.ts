import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMoney, minorUnits, parseMoney } from "../src/core/kernel/money.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { listLedger } from "../src/core/wallet/ledger.ts";
import { startPlatform } from "./support/platform.ts";

const NO_MINIMUM = { minimum: () => null };

test("credits and debits move the balance and are answered with what they left", async () => {
  const platform = await startPlatform();
  const { store } = platform;
  const caller = await platform.caller();
  const { partnerId } = caller;
  expect((await caller.get("/api/v1/balance")).body).toEqual({ balances: [], count: 0 });
  const funding = { partnerId, currency: "AUD", actor: "operator" };
  const credited = await store.write(creditWallet, { ...funding, amount: minorUnits(100_000), reference: "BANK-1" });
  expect(credited).toMatchObject({
    currency: "AUD",
    amount_cents: 100_000,
    balance_after_cents: 100_000,
    reference: "BANK-1",
  });
  const debited = await store.write(debitWallet, { ...funding, amount: minorUnits(30_000) });
  expect(debited).toMatchObject({ balance_after_cents: 70_000, reference: null });
  await store.write(creditWallet, { ...funding, amount: minorUnits(5), currency: "JPY" });
  expect((await caller.get("/api/v1/balance")).body).toEqual({
    balances: [
      { currency: "AUD", balance_cents: 70_000, last_transaction_at: "2026-03-02T01:00:00.000Z" },
      { currency: "JPY", balance_cents: 5, last_transaction_at: "2026-03-02T01:00:00.000Z" },
    ],
    count: 2,
  });
  const page = await store.read(listLedger, { partnerId, limit: 2 });
  expect(page.data.map((entry) => [entry.kind, entry.amount_cents, entry.currency])).toEqual([
    ["credit", 5, "JPY"],
    ["debit", 30_000, "AUD"],
  ]);
  const rest = await store.read(listLedger, { partnerId, limit: 2, cursor: page.next_cursor ?? "" });
  expect(rest.data).toMatchObject([
    {
      id: credited.transaction_id,
      postings: [{ account: "house:bank", amount_cents: -100_000 }, { amount_cents: 100_000 }],
    },
  ]);
  expect(rest.next_cursor).toBeNull();
});

test("a wallet never goes below zero nor beyond what can be counted", async () => {
  const platform = await startPlatform();
  const { partnerId } = await platform.caller();
  const funding = { partnerId, currency: "AUD", actor: "operator" };
  const write = (command: typeof creditWallet, amount: number, currency = "AUD") =>
    platform.store.write(command, { ...funding, currency, amount: minorUnits(amount) });
  await expect(write(debitWallet, 1)).rejects.toMatchObject({
    slug: "insufficient_balance",
    members: { currency: "AUD", balance_cents: 0, required_cents: 1, shortfall_cents: 1 },
  });
  await write(creditWallet, Number.MAX_SAFE_INTEGER);
  await expect(write(creditWallet, 1)).rejects.toMatchObject({ slug: "validation" });
  await expect(write(creditWallet, 0)).rejects.toMatchObject({ slug: "validation" });
  await expect(write(creditWallet, 1, "ABC")).rejects.toMatchObject({ slug: "validation" });
  expect(await platform.store.read(checkWallets, NO_MINIMUM)).toMatchObject({ ok: true });
});

test("the database itself refuses to change or delete what the ledger holds", async () => {
  const platform = await startPlatform();
  const { partnerId } = await platform.caller();
  await platform.fund(partnerId, 100);
  const attempts = [
    platform.store.write(async (tx) => void (await tx.db.delete(tx.t.ledgerPostings)), null),
    platform.store.write(
      async (tx) => void (await tx.db.update(tx.t.ledgerTransactions).set({ amount_cents: 1 })),
      null,
    ),
  ];
  for (const attempt of attempts) await expect(attempt).rejects.toThrow();
  expect(await platform.store.read(checkWallets, NO_MINIMUM)).toMatchObject({ ok: true });
});

test("the check finds a balance that its postings do not explain, and lists low wallets", async () => {
  const platform = await startPlatform();
  const { partnerId } = await platform.caller({ slug: "acme" });
  await platform.fund(partnerId, 5_000);
  const minimum = () => 10_000;
  expect(await platform.store.read(checkWallets, { minimum })).toMatchObject({
    ok: true,
    wallets: [{ partner: "acme", balance_cents: 5_000, ledger_cents: 5_000, ok: true, low: true }],
  });
  await platform.store.write(async (tx) => void (await tx.db.update(tx.t.wallets).set({ balance_cents: 5_001 })), null);
  expect(await platform.store.read(checkWallets, { minimum })).toMatchObject({
    ok: false,
    wallets: [{ balance_cents: 5_001, ledger_cents: 5_000, ok: false }],
  });
});

test("money is read and written with the currency's own decimals, exactly", () => {
  expect(parseMoney("1000.00", "AUD")).toBe(100_000);
  expect(parseMoney("1000", "AUD")).toBe(100_000);
  expect(parseMoney("0.1", "AUD")).toBe(10);
  expect(parseMoney("1500", "JPY")).toBe(1500);
  expect(parseMoney("1.234", "KWD")).toBe(1234);
  const refused = [
    ["1.234", "AUD"],
    ["1.5", "JPY"],
    ["1e3", "AUD"],
    ["-1", "AUD"],
    ["1,000", "AUD"],
    ["", "AUD"],
    ["1", "XYZ"],
  ];
  for (const [text = "", currency = ""] of refused) expect(() => parseMoney(text, currency), text).toThrow(Problem);
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.constantFrom("AUD", "JPY", "KWD"), (amount, currency) => {
      expect(parseMoney(formatMoney(amount, currency), currency)).toBe(amount);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMoney, minorUnits, parseMoney } from "../src/core/kernel/money.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import { checkBalancesAfter, checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { listLedger } from "../src/core/wallet/ledger.ts";
import { deskOf } from "./support/desk.ts";
import { startPlatform } from "./support/platform.ts";
import { onPostgres, runStatements } from "./support/store.ts";

const NO_MINIMUM = { minimum: () => null };

test("a reference is credited once to a wallet, unless --again marks another payment", async () => {
  const platform = await startPlatform();
  const { store } = platform;
  const [acme, beta] = [await platform.caller(), await platform.caller()];
  const desk = deskOf(platform);
  const credit = (slug: string, more: string) => `wallet credit --partner ${slug} --amount 10.00 ${more}`;
  expect(await desk.json(credit("partner-1", "--currency AUD --reference INV-1"))).toMatchObject({
    reference: "INV-1",
  });
  const refused = await desk.refusal(credit("partner-1", "--currency AUD --reference INV-1"));
  expect(refused).toMatchObject({ exitCode: 1, code: "duplicate", hint: expect.stringContaining("--again") });
  expect(refused.message).toMatch(/INV-1 was credited before, on \d{4}-\d\d-\d\d: 10\.00 AUD/);
  expect(await desk.json(credit("partner-1", "--currency AUD --reference INV-1 --again"))).toMatchObject({
    balance_after_cents: 2_000,
  });
  // Another partner, another currency, another reference, no reference, and a debit: none of them is the same payment.
  await desk.json(credit("partner-2", "--currency AUD --reference INV-1"));
  await desk.json(credit("partner-1", "--currency EUR --reference INV-1"));
  await desk.json(credit("partner-1", "--currency AUD --reference INV-2"));
  for (const _ of [1, 2]) await desk.json(credit("partner-1", "--currency AUD"));
  await desk.json("wallet debit --partner partner-1 --amount 1.00 --currency AUD --reference INV-2");
  const funding = { currency: "AUD", actor: "operator", amount: minorUnits(100), reference: "BANK-9" };
  const again = await platform.again();
  const both = [store, again].map((one) => one.write(creditWallet, { ...funding, partnerId: beta.partnerId }));
  const outcomes = await Promise.allSettled(both);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect((await beta.get("/api/v1/balance")).body.balances).toMatchObject([{ balance_cents: 1_100 }]);
  expect((await acme.get("/api/v1/balance")).body.balances).toMatchObject([{ balance_cents: 4_900 }, {}]);
  expect(await desk.json("wallet check")).toMatchObject({ ok: true });
});

test("credits and debits change the balance and return it", async () => {
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

test("a wallet never goes below zero nor above the bound", async () => {
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

test("the database itself refuses to change or delete ledger rows", async () => {
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

test("the check names each transaction whose balance after it is not the sum of its chain", async () => {
  const platform = await startPlatform();
  const { store } = platform;
  const [acme, beta] = [await platform.caller({ slug: "acme" }), await platform.caller({ slug: "beta" })];
  const desk = deskOf(platform);
  const move = (command: typeof creditWallet, { partnerId }: typeof acme, cents: number, currency = "AUD") =>
    store.write(command, { partnerId, currency, actor: "operator", amount: minorUnits(cents) });
  await move(creditWallet, acme, 500);
  const { transaction_id: id } = await move(debitWallet, acme, 120);
  for (const currency of ["AUD", "JPY"]) await move(creditWallet, acme, 30, currency);
  await move(creditWallet, beta, 70);
  expect(await desk.json("wallet check")).toMatchObject({ ok: true, wrong_balance_after: [] });
  await runStatements(platform.location, [
    `DROP TRIGGER ledger_transactions_no_update${onPostgres ? " ON ledger_transactions" : ""}`,
    `UPDATE ledger_transactions SET balance_after_cents = 381 WHERE id = '${id}'`,
  ]);
  const { exitCode, stdout } = await desk.run("wallet check");
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`Wrong balance after: ${id}.`)]);
  expect(await store.read(checkBalancesAfter, null)).toEqual([
    { id, partner: "acme", currency: "AUD", balance_after_cents: 381, ledger_cents: 380 },
  ]);
});

test("the check finds a balance that differs from its postings, and lists low wallets", async () => {
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

test("money is parsed and printed exactly, with the currency's decimals", () => {
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

import { expect, test } from "vitest";
import { fundingRequests } from "../src/core/wallet/list-funding.ts";
import { addProducts } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";

/** Typed amounts, and what is meant; null: it may mean two things. */
const typed: readonly (readonly [text: string, currency: string, minor: number | null])[] = [
  ["1500", "AUD", 150_000],
  ["1,500.00", "AUD", 150_000],
  ["1,234,567.80", "AUD", 123_456_780],
  ["1,500", "AUD", 150_000],
  ["1,500", "JPY", 1_500],
  ["1,500.250", "KWD", 1_500_250],
  ["1,500", "KWD", null],
  ["12,50", "AUD", null],
  ["1,5", "AUD", null],
  ["1.500,00", "AUD", null],
  ["15,00.00", "AUD", null],
  ["1500,", "AUD", null],
];

test("an amount is announced as it is meant, or refused", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const announced: number[] = [];
  for (const [amount, currency, minor] of typed) {
    const sent = await owner.send(await owner.get("/portal/wallet"), { amount, currency });
    expect([amount, currency, sent.status]).toEqual([amount, currency, minor === null ? 400 : 200]);
    if (minor === null) expect(sent.text).toContain("must be a plain decimal such as 1000.00");
    else announced.unshift(minor);
  }
  const none = await owner.send(await owner.get("/portal/wallet"), { amount: "0", currency: "AUD" });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("Amount must be more than zero.")]);
  const rows = await platform.store.read(fundingRequests, { limit: 20 });
  expect(rows.map(({ amount_cents }) => amount_cents)).toEqual(announced);
});

test("a comma that is none of thousands is refused wherever the console takes an amount", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const { "EU-1": id = "" } = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990 }]);
  const admin = await person(platform, { role: "admin" });
  for (const [path, form] of [
    [`/console/catalog/${id}`, { price: "12,50" }],
    ["/console/partners/acme/wallet", { kind: "credit", amount: "12,50", currency: "AUD" }],
    ["/console/partners/acme/settings", { credit_line: "12,50", currency: "AUD" }],
    ["/console/partners/acme/thresholds", { low_wallet: "12,50", currency: "AUD" }],
  ] as const) {
    const sent = await admin.send(await admin.get(path), form);
    expect([path, sent.status, sent.text]).toEqual([path, 400, expect.stringContaining("must be a plain decimal")]);
  }
});

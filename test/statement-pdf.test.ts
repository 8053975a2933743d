import { expect, test } from "vitest";
import { minorUnits } from "../src/core/kernel/money.ts";
import { creditWallet } from "../src/core/wallet/fund.ts";
import { fillLedger } from "./support/filled-ledger.ts";
import { pdfPages } from "./support/pdf-text.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { expectSamePdf, STATEMENTS, statementBytes } from "./support/statements.ts";

const march = { month: "2026-03", currency: "AUD" };
const pdf = { accept: "application/pdf" };

const pdfOf = (platform: Platform, caller: Caller, of = march) => statementBytes(platform, caller, of, pdf.accept);

test("a statement is a PDF with the partner, the figures, the movements, the hash and numbered pages", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ live: true, name: "Ünïcode Путешествия ΑΕ" });
  const { partnerId } = caller;
  const paid = { partnerId, currency: "AUD", actor: "test" };
  await platform.store.write(creditWallet, { ...paid, amount: minorUnits(123_456_789), reference: "Überweisung 7" });
  for (let more = 0; more < 100; more++) await platform.fund(partnerId, 1);
  const [first = [], second = [], third = []] = pdfPages(await pdfOf(platform, caller));
  expect(first.slice(0, 9)).toEqual([
    "Statement | March 2026, AUD",
    "Ünïcode Путешествия ΑΕ (partner-1)",
    "2026-03-01 00:00:00 to 2026-03-02 01:00:00 (UTC). Not finished: it may still change.",
    "Opening balance | Movements | Closing balance",
    "0.00 | 101 | 1,234,568.89",
    "When (UTC) | What | Reference | Amount | Balance",
    "2026-03-01 00:00:00 | opening | 0.00",
    "2026-03-02 01:00:00 | credit | Überweisung 7 | 1,234,567.89 | 1,234,567.89",
    "2026-03-02 01:00:00 | credit | 0.01 | 1,234,567.90",
  ]);
  expect([first, second, third].map((page) => page.at(-1))).toEqual(["1 / 3", "2 / 3", "3 / 3"]);
  expect(second[0]).toBe("Ünïcode Путешествия ΑΕ (partner-1), March 2026, AUD");
  await expectSamePdf(platform, caller);

  platform.clock.set("2026-04-01T01:00:00Z");
  const later = await platform.credential("partner-1", { live: true });
  const bytes = await pdfOf(platform, later);
  const last = pdfPages(bytes).at(-1) ?? [];
  const { body } = await later.get(`${STATEMENTS}/2026-03`);
  expect(last.slice(-4)).toEqual([
    "2026-04-01 00:00:00 | closing | 1,234,568.89",
    "SHA-256 of this statement as CSV, without its last line:",
    body.hash,
    "3 / 3",
  ]);
  expect((await pdfOf(platform, later)).equals(bytes)).toBe(true);
  await expectSamePdf(platform, later);
});

test("letters that the font has not are named, and long texts are cut", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ live: true, name: "北京 שלום \u202eevil" });
  const paid = { partnerId: caller.partnerId, currency: "AUD", amount: minorUnits(1), actor: "test" };
  await platform.store.write(creditWallet, { ...paid, reference: "W".repeat(200) });
  const [lines = []] = pdfPages(await pdfOf(platform, caller));
  const hebrew = "\\u{5e9}\\u{5dc}\\u{5d5}\\u{5dd}";
  expect(lines[1]).toBe(`\\u{5317}\\u{4eac} ${hebrew}  evil (partner-1)`);
  expect(lines.find((line) => line.includes("credit"))).toMatch(/ \| W{10,40}… \| 0\.01 \| 0\.01$/);
});

test("a PDF has 10,000 movements at most", { tags: ["slow"] }, async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ live: true });
  await fillLedger(platform.store, caller.partnerId, 10_001);
  const refused = await caller.get(`${STATEMENTS}/2026-03`, pdf);
  expect(refused).toMatchObject({
    status: 406,
    body: { detail: "A statement of more than 10,000 movements is no PDF: ask for text/csv." },
  });
  expect(refused.headers.get("content-disposition")).toBeNull();
  expect((await caller.get(`${STATEMENTS}/2026-03`)).body.movements).toHaveLength(10_001);
  const other = await platform.caller({ live: true });
  await fillLedger(platform.store, other.partnerId, 10_000);
  expect(pdfPages(await pdfOf(platform, other)).at(-1)).toContain("186 / 186");
});

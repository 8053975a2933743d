import { expect, test } from "vitest";
import { minorUnits } from "../src/core/kernel/money.ts";
import { creditWallet } from "../src/core/wallet/fund.ts";
import { person, startPages } from "./support/pages.ts";
import { STATEMENTS, statementBytes } from "./support/statements.ts";

/** A partner whose wallet was paid into in March, as seen in May. */
async function paid() {
  const platform = await startPages();
  const { partnerId } = await platform.caller({ slug: "acme", live: true });
  await platform.caller({ slug: "other" });
  const payment = { partnerId, currency: "AUD", amount: minorUnits(123_450), reference: "INV-1", actor: "test" };
  await platform.store.write(creditWallet, payment);
  platform.clock.set("2026-05-02T01:00:00Z");
  return { platform, caller: await platform.credential("acme", { live: true }) };
}

test("the portal lists months with their files, and only those of its own partner", async () => {
  const { platform, caller } = await paid();
  const viewer = await person(platform, { partner: "acme", role: "viewer" });
  const wallet = await viewer.get("/portal/wallet");
  const link = wallet.page.querySelectorAll("a").find((one) => one.textContent === "Statements by month");
  const list = await viewer.get(link?.getAttribute("href") ?? "");
  const rows = list.page.querySelectorAll("tbody tr").map((row) => row.querySelectorAll("td").map((td) => td.text));
  expect(rows).toEqual([
    ["2026-05", "1,234.50 AUD", "0", "1,234.50 AUD", "not finished", "CSV", "PDF"],
    ["2026-04", "1,234.50 AUD", "0", "1,234.50 AUD", "finished", "CSV", "PDF"],
    ["2026-03", "0.00 AUD", "1", "1,234.50 AUD", "finished", "CSV", "PDF"],
  ]);
  const [csv = "", pdf = ""] = list.page
    .querySelectorAll("tbody tr:last-child a")
    .map((one) => one.getAttribute("href"));
  const march = { month: "2026-03", currency: "AUD" };
  const file = await viewer.get(csv);
  expect(file.html).toBe((await statementBytes(platform, caller, march, "text/csv")).toString());
  expect(file.headers.get("content-disposition")).toBe('attachment; filename="statement-2026-03-AUD.csv"');
  const printed = await viewer.get(pdf);
  expect(printed.headers.get("content-type")).toBe("application/pdf");
  expect(printed.html).toMatch(/^%PDF/);
  expect((await viewer.get("/portal/wallet/statements/2026-06?currency=AUD&form=csv")).status).toBe(400);
  expect((await viewer.get("/portal/wallet/statements/2026-03?currency=AUD&form=xml")).status).toBe(400);

  const stranger = await person(platform, { partner: "other", role: "owner" });
  expect((await stranger.get("/portal/wallet/statements")).text).toContain("Nothing has moved the wallet yet.");
  expect((await stranger.get(csv)).html).not.toContain("INV-1");
  const developer = await person(platform, { partner: "acme", role: "developer" });
  expect((await developer.get(csv)).status).toBe(403);
});

test("the console has the same of every partner", async () => {
  const { platform, caller } = await paid();
  const finance = await person(platform, { role: "finance" });
  const wallet = await finance.get("/console/partners/acme/wallet");
  const link = wallet.page.querySelectorAll("a").find((one) => one.textContent === "Statements by month");
  const list = await finance.get(link?.getAttribute("href") ?? "");
  const [csv = ""] = list.page.querySelectorAll("tbody tr:last-child a").map((one) => one.getAttribute("href"));
  const { body } = await caller.get(`${STATEMENTS}/2026-03`);
  expect((await finance.get(csv)).html.trimEnd().split("\n").at(-1)).toBe(`,hash,AUD,,,${body.hash},,,`);
  expect((await finance.get("/console/partners/none/wallet/statements")).status).toBe(404);
});

import { expect, test } from "vitest";
import { insert } from "../src/core/store/rows.ts";
import { walletBalances } from "../src/core/wallet/balances.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { sandboxEsimPage } from "./support/esims.ts";
import { person, startPages } from "./support/pages.ts";
import { create, lines } from "./support/quotes.ts";
import { makeSupplied, plan, setUpProvider, startTopupProvider, work } from "./support/topup-provider.ts";
import type { Visitor } from "./support/visitor.ts";

/** A partner with an eSIM from stock, or of a provider that has one top-up for it: 2.28 USD × 1.52 × 1.35. */
async function withEsim({ supplied }: { supplied: boolean }) {
  const platform = await startPages();
  const { store, fund, fulfill } = platform;
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 100 }]);
  const [iccid = ""] = await addStock(store, "EU5", 1);
  const caller = await platform.caller({ slug: "acme", live: true });
  await fund(caller.partnerId, 1_000);
  await create(caller, lines([EU5, 1]));
  await fulfill();
  const provider = await startTopupProvider();
  if (supplied) {
    provider.plans = [plan({ plan: "TOP3" })];
    await setUpProvider(platform, provider);
    const rate = { from_currency: "USD", to_currency: "AUD", day: "2026-03-01", rate: "1.52" };
    await store.write((tx) => insert(tx, "fxRates", [{ ...rate, created_at: tx.now }]), null);
    await makeSupplied(platform, iccid);
  }
  const agent = await person(platform, { partner: "acme", role: "agent" });
  return { platform, caller, provider, agent, iccid, at: `/portal/esims/${iccid}` };
}

/** The form of a top-up with its first product. */
async function chosen(who: Visitor, at: string) {
  const form = await who.get(`${at}/topup`);
  const product = form.page.querySelector("select[name=product] option")?.getAttribute("value") ?? "";
  return who.send(form, { product });
}

const balance = async ({ platform: { store }, caller }: Awaited<ReturnType<typeof withEsim>>) =>
  (await store.read(walletBalances, caller.partnerId)).balances.map(({ balance_cents }) => balance_cents);

test("an agent tops an eSIM up once, for the price that was shown", async () => {
  const given = await withEsim({ supplied: true });
  const { platform, provider, agent, at } = given;
  const page = await agent.get(at);
  expect(page.page.querySelector(`a[href="${at}/topup"]`)?.text).toBe("Top it up");
  const form = await agent.get(`${at}/topup`);
  expect(form.text).toMatch(/4\.68 AUD/);
  const asked = await chosen(agent, at);
  expect(asked.text).toContain("It costs 4.68 AUD. The wallet holds 4.32 AUD then.");
  expect([await balance(given), provider.bought.size]).toEqual([[900], 0]);
  const done = await agent.send(asked, {}, "/topup");
  expect([done.path, done.text]).toEqual([at, expect.stringMatching(/is bought for this eSIM.*4\.68 AUD ?paid/)]);
  expect((await agent.send(asked, {}, "/topup")).text).toContain("nothing was done again");
  await work(platform);
  expect((await agent.get(at)).text).toMatch(/4\.68 AUD ?applied/);
  expect([await balance(given), provider.bought.size]).toEqual([[432], 1]);
});

test("a price that was not shown is refused, and so is a wallet that does not hold it", async () => {
  const given = await withEsim({ supplied: true });
  const { agent, at } = given;
  const asked = await chosen(agent, at);
  const dearer = await agent.send(asked, { most: "467" }, "/topup");
  expect([dearer.status, dearer.text]).toEqual([409, expect.stringContaining("costs 4.68 AUD")]);
  await agent.send(asked, {}, "/topup");
  const poor = await chosen(agent, at);
  expect([poor.status, await balance(given)]).toEqual([402, [432]]);
});

test("what was in stock takes nothing; others' eSIMs are not found, and viewers may not buy", async () => {
  const { platform, agent, iccid, at } = await withEsim({ supplied: false });
  expect((await agent.get(`${at}/topup`)).text).toContain("Nothing can be put on this eSIM.");
  await platform.caller({ slug: "globex", live: true });
  const other = await person(platform, { partner: "globex", role: "owner" });
  for (const one of [iccid, "12", "8944100000000000998"]) {
    expect((await other.get(`/portal/esims/${one}/topup`)).status).toBe(404);
  }
  const csrf = (await other.get("/portal/team")).page.querySelector("input[name=_csrf]")?.getAttribute("value") ?? "";
  expect((await other.post(`${at}/topup`, { _csrf: csrf, product: "x" })).status).toBe(404);
  const viewer = await person(platform, { partner: "acme", role: "viewer" });
  expect((await viewer.get(at)).text).not.toContain("Top it up");
  expect((await viewer.get(`${at}/topup`)).status).toBe(403);
});

test("in the sandbox a top-up costs nothing", async () => {
  const { platform, agent } = await withEsim({ supplied: false });
  const at = await sandboxEsimPage(platform, "acme", agent);
  const asked = await chosen(agent, at);
  expect(asked.text).toContain("EU5: the sandbox charges nothing.");
  expect((await agent.send(asked, {}, "/topup")).text).toContain("EU5 is bought for this eSIM");
});

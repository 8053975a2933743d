import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { checkTopupMoney } from "../src/core/orders/check-money.ts";
import { walletBalances } from "../src/core/wallet/balances.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { create, lines } from "./support/quotes.ts";
import { makeSupplied, plan, setUpProvider, startTopupProvider, work } from "./support/topup-provider.ts";
import { csrfOf } from "./support/visitor.ts";

const LIST = "/console/money/topups";

/** A partner whose top-ups of 3.08 AUD are in doubt: the supplier hung up, and then knew no such order. */
async function inDoubt(count = 1) {
  const platform = await startPages();
  const { store, fund, fulfill, clock } = platform;
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 100 }]);
  const [iccid = ""] = await addStock(store, "EU5", 1);
  const caller = await platform.caller({ slug: "acme", live: true });
  await fund(caller.partnerId, 10_100);
  await create(caller, lines([EU5, 1]));
  await fulfill();
  const provider = await startTopupProvider();
  provider.plans = [plan({ plan: "TOP3", currency: "AUD" })];
  await setUpProvider(platform, provider, { notes: false, lookUps: 1 });
  await makeSupplied(platform, iccid);
  const path = `/api/v1/esims/${iccid}`;
  const { body: fitting } = await caller.get(`${path}/topup-products`);
  const ids: string[] = [];
  for (let no = 0; no < count; no++) {
    provider.next = ["drop"];
    const asked = { product_id: fitting.data[0].id };
    ids.push((await caller.send("POST", `${path}/topups`, asked, { "idempotency-key": `no-${no}` })).body.id);
    await work(platform);
    clock.advance(10_000);
    await work(platform);
  }
  const finance = await person(platform, { role: "finance" });
  const balance = async () => (await store.read(walletBalances, caller.partnerId)).balances[0]?.balance_cents;
  return { platform, caller, provider, finance, balance, ids, iccid, at: `${LIST}/${ids[0]}` };
}

test("a top-up in doubt is on Today, in the list and on its page, and is given back once", async () => {
  const { platform, caller, finance, balance, ids, at, iccid } = await inDoubt();
  const today = await finance.get("/console");
  const work = today.page.querySelector('section[aria-label="Waiting for you"] tbody tr');
  expect(work?.querySelector("a")?.getAttribute("href")).toBe(LIST);
  const list = await finance.get(LIST);
  expect(list.page.querySelector(`a[href="${at}"]`)?.text).toBe("P-TOP3");
  expect(list.text).toMatch(new RegExp(`${iccid} ?acme ?3\\.08 AUD ?prov ?TOP3 ?it has no such order`));
  const asked = await finance.get(`${at}/fail`);
  const foreseen = await finance.send(asked, { reason: "the supplier has no such order" });
  expect(foreseen.text).toContain("3.08 AUD go back to acme, who reads: the supplier has no such order.");
  expect(foreseen.text).toContain("Status: paid → failed.");
  expect(await balance()).toBe(9_692);
  const done = await finance.send(foreseen, {}, "/fail");
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("The top-up P-TOP3 has failed.")]);
  expect(done.text).toContain("Pat finance: topups.fail, the supplier has no such order");
  expect((await finance.send(foreseen, {}, "/fail")).text).toContain("nothing was done again");
  expect(await balance()).toBe(10_000);
  const { body } = await caller.get(`/api/v1/topups/${ids[0]}`);
  expect(body).toMatchObject({ status: "failed", failure_reason: "the supplier has no such order" });
  const [line] = await platform.store.read(listAudit, { target: ids[0], limit: 1 });
  expect(line).toMatchObject({ action: "topups.fail", actor: `user:${finance.id}` });
  expect(await platform.store.read(checkTopupMoney, null)).toEqual([]);
  expect((await finance.get(LIST)).text).toContain("No top-up waits for a person.");
  expect((await finance.get("/console")).text).not.toContain("Top-ups to decide");
});

test("one is applied for good, another looked up again before anything is bought", async () => {
  const { platform, caller, provider, finance, balance, ids } = await inDoubt(2);
  const [first = "", second = ""] = ids;
  const foreseen = await finance.get(`${LIST}/${first}/complete`);
  expect(foreseen.text).toContain("No money moves: acme has paid 3.08 AUD.Status: paid → applied.");
  expect((await finance.send(foreseen, {}, "/complete")).text).toContain("P-TOP3 is applied.");
  const statusOf = async (id: string) => (await caller.get(`/api/v1/topups/${id}`)).body.status;
  expect([await statusOf(first), await statusOf(second)]).toEqual(["applied", "paid"]);
  provider.bought.set(second, "TOP3");
  const again = await finance.get(`${LIST}/${second}/retry`);
  expect(again.text).toContain("what may have been bought is looked up before anything is bought");
  const asked = await finance.send(again, {}, "/retry");
  expect(asked.text).toContain("P-TOP3 is looked up again.");
  expect(asked.page.querySelector(`a[href$="/${second}/retry"]`)).toBeNull();
  await work(platform);
  expect([await statusOf(second), provider.bought.size, await balance()]).toEqual(["applied", 1, 9_384]);
});

test("what was decided by another meanwhile is refused, and the second factor is asked for again", async () => {
  const { platform, finance, balance, at } = await inDoubt();
  const admin = await person(platform, { role: "admin" });
  const theirs = await admin.send(await admin.get(`${at}/fail`), { reason: "not there" });
  platform.clock.advance(11 * 60_000);
  const own = await finance.get(`${at}/complete`);
  const asked = await finance.send(own, {}, "/complete");
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("Confirm that it is you")]);
  const proved = await finance.send(asked, { code: finance.code() });
  expect(proved.text).toContain("P-TOP3 is applied.");
  const late = await admin.send(await admin.send(theirs, {}, "/fail"), { code: admin.code() });
  expect([late.status, late.text]).toEqual([409, expect.stringContaining("The top-up is applied and stays so.")]);
  expect((await finance.get(`${at}/retry`)).status).toBe(409);
  expect(await balance()).toBe(9_692);
});

test("a reason is needed; what is not there is not found; support sees none, viewers decide nothing", async () => {
  const { platform, finance, at } = await inDoubt();
  const empty = await finance.send(await finance.get(`${at}/fail`), { reason: " " });
  expect([empty.status, empty.text]).toEqual([400, expect.stringContaining("Reason is required.")]);
  for (const rest of ["", "/fail", "/complete"]) {
    expect((await finance.get(`${LIST}/none${rest}`)).status, rest).toBe(404);
  }
  const support = await person(platform, { role: "support" });
  for (const path of [LIST, at, `${at}/fail`]) expect((await support.get(path)).status, path).toBe(403);
  expect((await support.get("/console")).text).not.toContain("Top-ups to decide");
  const viewer = await person(platform, { role: "viewer" });
  const page = await viewer.get(at);
  expect([page.status, page.text.includes("Give the money back")]).toEqual([200, false]);
  for (const verb of ["fail", "complete", "retry"]) {
    const typed = { ...csrfOf(page), reason: "x", confirmed: "yes", key: "k".repeat(20) };
    expect((await viewer.post(`${at}/${verb}`, typed, { origin: platform.url })).status, verb).toBe(403);
  }
});

import { expect, test } from "vitest";
import { addProducts, addStock } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { person, startPages } from "./support/pages.ts";
import type { Seen } from "./support/visitor.ts";

/** An order in review, and an hour later an announced payment. */
async function busy() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 150);
  const { EMPTY } = await addProducts(platform.store, [{ sku: "EMPTY", price_cents: 100 }, { sku: "FEW" }]);
  await addStock(platform.store, "FEW", 3);
  const body = { line_items: [{ product_id: EMPTY, quantity: 1 }] };
  expect((await caller.send("POST", "/api/v1/orders", body, { "idempotency-key": "one" })).status).toBe(201);
  await platform.fulfill();
  platform.clock.advance(10 * 60_000);
  const asked = { amount_cents: 150_000, currency: "AUD" };
  await caller.send("POST", "/api/v1/wallet/funding-requests", asked);
  return platform;
}

/** The words and links of the first table: the work that waits. */
function workOf({ page }: Seen) {
  const rows = page.querySelectorAll('section[aria-label="Waiting for you"] tbody tr');
  return rows.map((row) => [row.querySelector("a")?.textContent, row.querySelector("a")?.getAttribute("href")]);
}

test("Today lists what waits for staff, the oldest first, each with the page where it is done", async () => {
  const platform = await busy();
  const admin = await person(platform, { role: "admin" });
  const page = await admin.get("/console");
  expect([page.status, page.page.querySelector("h1")?.textContent]).toEqual([200, "Today"]);
  expect(workOf(page)).toEqual([
    ["Orders to review", "/console/orders?status=waiting_review"],
    ["Payments to credit", "/console/money?status=requested"],
  ]);
  expect(page.text).toContain("Low stock");
  // Charged 1.00 in seven days, and 0.50 left.
  const low = page.page.querySelector('section[aria-label="Low wallets"] a');
  expect(low?.getAttribute("href")).toBe("/console/partners/acme");
  const money = await admin.get("/console/money?status=requested");
  expect(money.text).toContain("1,500.00 AUD");
});

test("of many products with low stock Today shows the ten lowest, and where all are", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const skus = Array.from({ length: 12 }, (_, at) => `P${String(at + 10)}`);
  await addProducts(
    platform.store,
    skus.map((sku) => ({ sku })),
  );
  for (const sku of skus.slice(0, 2)) await addStock(platform.store, sku, 3);
  const { page } = await admin.get("/console");
  const low = page.querySelector('section[aria-label="Low stock"]');
  const links = low?.querySelectorAll("tbody a").map((one) => one.getAttribute("href"));
  expect(links).toEqual(skus.slice(2).map((sku) => `/console/stock?sku=${sku}`));
  const whole = page.querySelectorAll("a").find((one) => one.textContent === "Show all 12");
  const { page: stock } = await admin.get(whole?.getAttribute("href") ?? "");
  expect(stock.querySelectorAll("tbody tr")).toHaveLength(12);
});

test("charts show the orders, requests and deliveries of the last hour, with their figures", async () => {
  const platform = await busy();
  const viewer = await person(platform, { role: "viewer" });
  const { page } = await viewer.get("/console");
  const charts = page.querySelectorAll("figure").map((one) => one.querySelector("figcaption")?.textContent);
  expect(charts).toEqual([
    "Orders of the last hour: 1",
    expect.stringMatching(/^Requests of the last hour: \d/),
    "Webhooks sent of the last hour: 0",
  ]);
  const figures = page.querySelectorAll("figure")[0]?.querySelectorAll("tbody tr") ?? [];
  expect(figures.map((row) => row.textContent)).toHaveLength(60);
  expect(figures.at(-11)?.textContent).toBe("01:001");
});

test("each role sees the work that it may do something about", async () => {
  const platform = await busy();
  const words = async (role: "finance" | "support" | "viewer") => {
    const page = await (await person(platform, { role })).get("/console");
    return { work: workOf(page).map(([text]) => text), text: page.text };
  };
  expect((await words("finance")).work).toEqual(["Orders to review", "Payments to credit"]);
  const support = await words("support");
  expect(support.work).toEqual(["Orders to review"]);
  expect(support.text).not.toContain("Low wallets");
  expect((await words("viewer")).text).toContain("Low wallets");
  const owner = await person(platform, { partner: "acme", role: "owner" });
  expect((await owner.get("/console")).status).toBe(403);
});

test("status has announced payments as a queue, and as work of the operator", async () => {
  const platform = await busy();
  const seen = await deskOf(platform).json("status");
  const at = "2026-03-02T01:10:00.000Z";
  const queue = { queue: "funding_requests", waits_for: "staff", waiting: 1, oldest_at: at };
  expect(seen.queues).toContainEqual(queue);
  expect(seen.waiting).toContainEqual({ for: "operator", act: "credit", on: "payment", since: at, waiting: 1 });
  expect((await deskOf(platform).run("status")).stdout).toMatch(/^payments to credit +you +1 /m);
});

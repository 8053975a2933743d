import { expect, test } from "vitest";
import { type Person, person, startPages } from "./support/pages.ts";

const marked = async (who: Person, path: string) =>
  (await who.get(path)).page.querySelector('nav a[aria-current="page"]')?.textContent.trim();

test("an empty list says what is not there yet, and names its filters only where one is set", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme", live: true });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const admin = await person(platform, { role: "admin" });
  for (const [who, path, none, filter] of [
    [owner, "/portal/catalog", "No products yet.", "region=Europe"],
    [owner, "/portal/esims", "No eSIMs yet.", "status=expired"],
    [owner, "/portal/activations", "No requests yet.", "status=completed"],
    [admin, "/console/catalog", "No products yet.", "status=inactive"],
    [admin, "/console/orders", "No orders in production yet.", "status=paid"],
    [admin, "/console/activations", "No activations in production yet.", "environment=sandbox"],
    [admin, "/console/esims", "No eSIM is sold yet.", "status=expired"],
  ] as const) {
    expect([path, (await who.get(path)).text]).toEqual([path, expect.stringContaining(none)]);
    const filtered = await who.get(`${path}?${filter}`);
    expect([path, filtered.text]).toEqual([path, expect.stringContaining("Leave a filter out to see more.")]);
  }
});

test("the menu marks the part that a page is of, under whatever address", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const parts = { "": "Today", "/orders": "Orders", "/prices": "Catalog", "/fx": "Catalog", "/carriers": "Suppliers" };
  for (const [path, words] of Object.entries({ ...parts, "/deliveries": "Platform", "/users": "Platform" })) {
    expect([path, await marked(admin, `/console${path}`)]).toEqual([path, words]);
  }
});

import { expect, test } from "vitest";
import { findProductBySku } from "../src/core/catalog/product.ts";
import { requirePartner } from "../src/core/partners/partner.ts";
import { addProducts, product } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";

const SETTINGS = "/console/partners/acme/settings";

async function twoAdmins() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  const [one, other] = [await person(platform, { role: "admin" }), await person(platform, { role: "admin" })];
  return { ...platform, caller, one, other };
}

test("a form saves what was changed in it alone: what another person changed meanwhile stays", async () => {
  const { store, one, other } = await twoAdmins();
  const [ones, others] = [await one.get(SETTINGS), await other.get(SETTINGS)];
  await one.send(ones, { max_pool: "500", production: "" });
  const saved = await other.send(others, { support: "+61 2 5550 1234" });
  expect(saved.text).toContain("are saved");
  expect(await store.read(requirePartner, "acme")).toMatchObject({
    ...{ max_pool: 500, production: false, support: "+61 2 5550 1234" },
  });
});

test("what two people change to different things is refused, and replaced where the form is sent again", async () => {
  const { store, one, other } = await twoAdmins();
  const [ones, others] = [await one.get(SETTINGS), await other.get(SETTINGS)];
  await one.send(ones, { max_pool: "500", max_endpoints: "7" });
  const refused = await other.send(others, { max_pool: "900", tier: "premium" });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("was changed meanwhile, to 500")]);
  expect(await store.read(requirePartner, "acme")).toMatchObject({ max_pool: 500, tier: "standard" });
  await other.send(refused, {}, "/settings");
  expect(await store.read(requirePartner, "acme")).toMatchObject({ max_pool: 900, max_endpoints: 7, tier: "premium" });
});

test("the confirmation of a change of a product changes what its form changed", async () => {
  const { store, one, other } = await twoAdmins();
  const { EU5 } = await addProducts(store, [product({ sku: "EU5", price_cents: 1_000 })]);
  const at = `/console/catalog/${EU5}`;
  const [ones, others] = [await one.get(at), await other.get(at)];
  const preview = await other.send(others, { price: "11.00" });
  await one.send(await one.send(ones, { status: "inactive" }), {}, at);
  await other.send(preview, {}, at);
  expect(await store.read(findProductBySku, "EU5")).toMatchObject({ price_cents: 1_100, status: "inactive" });
});

test("an endpoint keeps the kinds and the description that another person gave it", async () => {
  const { caller, ...platform } = await twoAdmins();
  const [one, other] = [
    await person(platform, { partner: "acme", role: "owner" }),
    await person(platform, { partner: "acme", role: "developer" }),
  ];
  const body = { url: "https://a.example.com/", events: ["order.created"], description: "desk" };
  const { id } = (await caller.send("POST", "/api/v1/webhooks", body)).body.webhook;
  const at = `/portal/developers/webhooks/${id}`;
  const [ones, others] = [await one.get(at), await other.get(at)];
  await one.send(ones, { description: "night desk", events: ["order.created", "order.fulfilled"] });
  await other.send(others, { url: "https://b.example.com/" });
  expect((await caller.get(`/api/v1/webhooks/${id}`)).body).toMatchObject({
    ...{ url: "https://b.example.com/", description: "night desk", events: ["order.created", "order.fulfilled"] },
  });
});

test("guard rails, thresholds, suppliers and carriers are saved by what was changed of them", async () => {
  const { caller, one, other } = await twoAdmins();
  const texts = async (at: string, first: Record<string, string>, second: Record<string, string>, act: string) => {
    const [ones, others] = [await one.get(at), await other.get(at)];
    await one.send(ones, first);
    const saved = await other.send(others, second);
    expect([act, saved.status]).toEqual([act, 200]);
    return (await one.get(at)).page;
  };
  const textIn = (page: Awaited<ReturnType<typeof texts>>, name: string) =>
    page.querySelector(`[name=${name}]`)?.getAttribute("value") ??
    page.querySelector(`[name=${name}]`)?.textContent.trim();
  const rails = await texts(
    `/console/partners/acme/credentials/${caller.clientId}`,
    { ip: "203.0.113.0/24" },
    { expires: "2027-06-01" },
    "rails",
  );
  expect([textIn(rails, "ip"), textIn(rails, "expires")]).toEqual(["203.0.113.0/24", "2027-06-01"]);
  const thresholds = await texts(
    "/console/partners/acme/thresholds",
    { low_data: "90" },
    { expiry_days: "9" },
    "thresholds",
  );
  expect([textIn(thresholds, "low_data"), textIn(thresholds, "expiry_days")]).toEqual(["90", "9"]);
  const carrier = await texts("/console/carriers/58", { name: "Carrier Blue" }, { region: "Tasmania" }, "carrier");
  expect([textIn(carrier, "name"), textIn(carrier, "region")]).toEqual(["Carrier Blue", "Tasmania"]);
});

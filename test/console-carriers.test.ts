import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { requireCarrier } from "../src/core/carriers/carrier.ts";
import { person, startPages } from "./support/pages.ts";

const SECRET = "sixteen-characters-and-more";

test("a carrier is added and changed, its secret replaced and shown nowhere", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const row = () => platform.store.read(requireCarrier, "8964");
  const list = await admin.get("/console/carriers");
  const typed = {
    prefix: "8964",
    name: "Carrier C (Fiji)",
    brand: "carrier-c",
    region: "Fiji",
    needs_first_name: "yes",
  };
  const http = { ...typed, adapter: "http", url: "https://carrier.example/activate" };
  const refused = await admin.send(list, http);
  expect([refused.status, refused.text]).toEqual([
    400,
    expect.stringContaining("Secret is needed by the http adapter"),
  ]);
  const added = await admin.send(refused, { ...http, secret: SECRET, timeout: "20", within: "24" });
  expect([added.path, added.text]).toEqual([
    "/console/carriers/8964",
    expect.stringContaining("Carrier C (Fiji) is saved"),
  ]);
  expect(await row()).toMatchObject({
    ...{ name: "Carrier C (Fiji)", brand: "carrier-c", region: "Fiji", adapter: "http" },
    ...{ required_fields: ["first_name"], timeout_ms: 20_000, answer_within_ms: 86_400_000 },
  });
  const twice = await admin.send(list, { ...http, secret: SECRET });
  expect([twice.status, twice.text]).toEqual([409, expect.stringContaining("There is a carrier 8964 already.")]);
  const { secret_sealed } = await row();

  const changed = await admin.send(
    added,
    { region: "Oceania", needs_passport_no: "yes", within: "48" },
    "/carriers/8964",
  );
  expect(changed.text).toMatch(/Oceania.*48 h/);
  expect(await row()).toMatchObject({
    required_fields: ["first_name", "passport_no"],
    secret_sealed,
    region: "Oceania",
  });
  const short = await admin.send(changed, { secret: "short" }, "/8964/secret");
  expect([short.status, short.text]).toEqual([400, expect.stringContaining("at least 16 characters")]);
  await admin.send(changed, { secret: `${SECRET}-2` }, "/8964/secret");
  expect((await row()).secret_sealed).not.toBe(secret_sealed);
  for (const seen of [refused, added, changed, short, await admin.get("/console/carriers/8964")]) {
    expect(seen.html).not.toContain(SECRET);
  }
  const actors = (await platform.store.read(listAudit, { target: "8964", limit: 9 })).map(
    ({ action, actor }) => `${action} ${actor}`,
  );
  expect(new Set(actors)).toEqual(new Set([`carriers.set user:${admin.id}`]));
});

test("changing a carrier asks for the second factor again; support only reads", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const typed = { prefix: "8964", name: "Carrier C (Fiji)", brand: "carrier-c", adapter: "manual" };
  const changed = await admin.send(await admin.get("/console/carriers"), typed);
  platform.clock.advance(11 * 60_000);
  const asked = await admin.send(changed, { region: "Fiji" }, "/carriers/8964");
  expect(asked.text).toContain("Confirm that it is you");
  expect((await admin.send(asked, { code: admin.code() })).text).toContain("is saved");
  const support = await person(platform, { role: "support" });
  expect((await support.get("/console/carriers/8964")).text).not.toContain("Save the carrier");
});

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
  const added = await admin.send(refused, { ...http, secret: SECRET, timeout: "20", answer_within: "24" });
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
    { region: "Oceania", needs_passport_no: "yes", answer_within: "48" },
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

test("the form of a carrier shows what holds, and what is taken out of it holds no longer", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const row = () => platform.store.read(requireCarrier, "8964");
  const typed = { prefix: "8964", name: "Carrier C (Fiji)", brand: "carrier-c", adapter: "http", secret: SECRET };
  const url = "http://carrier.example/activate";
  const added = await admin.send(await admin.get("/console/carriers"), { ...typed, url, insecure: "yes" });
  expect(added.page.querySelector('input[name="insecure"]')?.hasAttribute("checked")).toBe(true);
  const change = async (form: Record<string, string>) =>
    admin.send(await admin.get("/console/carriers/8964"), form, "/carriers/8964");
  for (const [form, words] of [
    [{ insecure: "" }, "Address must be https beyond this machine"],
    [{ url: "" }, "Address is needed by the http adapter."],
    [{ timeout: "" }, "One exchange takes at most (s) is required."],
    [{ answer_within: "0" }, "Its final answer comes within (h) must be at least a second."],
  ] as const) {
    const refused = await change(form);
    expect([refused.status, refused.page.querySelector(".alert")?.textContent]).toEqual([
      400,
      expect.stringContaining(words),
    ]);
  }
  await change({ insecure: "", url: "https://carrier.example/activate" });
  expect(await row()).toMatchObject({ insecure: false, url: "https://carrier.example/activate" });
  await change({ adapter: "manual", url: "" });
  expect(await row()).toMatchObject({ adapter: "manual", url: null });
  // The form sends all of it; the audit trail names what changed.
  const [last] = await platform.store.read(listAudit, { target: "8964", limit: 1 });
  expect(last?.fields?.toSorted()).toEqual(["adapter", "url"]);
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

import { expect, test } from "vitest";
import { type Person, person, startPages } from "./support/pages.ts";

/** The filters of lists that know their own values, by the pages that a person's links lead to. */
async function choosingFilters(who: Person, face: string): Promise<[path: string, name: string][]> {
  const [paths, found] = [new Set([face]), [] as [string, string][]];
  for (const path of paths) {
    const { page } = await who.get(path);
    for (const one of page.querySelectorAll("[data-filters] select, [data-filters] [type=date]")) {
      found.push([path, one.getAttribute("name") ?? ""]);
    }
    for (const link of page.querySelectorAll("a[href]")) {
      const [to = ""] = link.getAttribute("href")?.split("?") ?? [];
      if (to.startsWith(`${face}/`)) paths.add(to);
    }
  }
  return found;
}

test("what is wrong with a filter is said beside it, and what is typed stays", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme", live: true });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  for (const [path, name, words] of [
    ["/portal/catalog", "country", "Country must be an ISO 3166-1 country code"],
    ["/portal/wallet", "currency", "Currency must be an ISO 4217 currency code"],
    ["/portal/wallet/statements", "currency", "Currency must be an ISO 4217 currency code"],
  ] as const) {
    const { status, page } = await owner.get(`${path}?${name}=J`);
    const list = page.querySelector("[data-live-list]");
    expect([path, status, list?.querySelector("[role=alert]")?.textContent]).toEqual([
      ...[path, 400],
      expect.stringContaining(words),
    ]);
    expect(list?.querySelector(`[name=${name}]`)?.getAttribute("value")).toBe("J");
  }
});

test("CSV has the currency of its amounts, and no column that only leads elsewhere", async () => {
  const platform = await startPages();
  const { partnerId } = await platform.caller({ slug: "acme", live: true });
  await platform.fund(partnerId, 1_500);
  await platform.fund(partnerId, 2_000, "JPY");
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const csv = async (path: string) => (await owner.get(`${path}?format=csv`)).html.trim().split("\n");
  const [head, ...months] = await csv("/portal/wallet/statements");
  expect([head, months.map((line) => line.split(",").slice(3)).sort()]).toEqual([
    "Month,Opening,Movements,Closing,State,Currency",
    [
      ["15.00", "not finished", "AUD"],
      ["2000", "not finished", "JPY"],
    ],
  ]);
  expect((await csv("/portal/wallet"))[0]).toMatch(/,Currency$/);
});

test("a list refuses the value of a filter that it does not know, and says which", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme", live: true });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const admin = await person(platform, { role: "admin" });
  for (const [who, face, least] of [
    [owner, "/portal", 10],
    [admin, "/console", 30],
  ] as const) {
    const all = await choosingFilters(who, face);
    expect(all.length, face).toBeGreaterThanOrEqual(least);
    for (const [path, name] of all) {
      // A partner is looked up by its name, or is one of the choices.
      const known = name === "partner" ? /must be |No such partner/ : /must be /;
      const { status, page } = await who.get(`${path}?${name}=2026-13-45`);
      const said = page.querySelector("[role=alert], main")?.textContent;
      expect([path, name, said]).toEqual([path, name, expect.stringMatching(known)]);
      // What is typed stays, beside what is wrong with it.
      const typed = page.querySelector(`[data-filters] [type=date][name=${name}]`)?.getAttribute("value");
      if (name !== "partner") expect([path, status, typed ?? "2026-13-45"]).toEqual([path, 400, "2026-13-45"]);
      const csv = await who.get(`${path}?${name}=2026-13-45&format=csv`);
      if (name !== "partner") expect([path, csv.status]).toEqual([path, 400]);
      expect([path, csv.text]).toEqual([path, expect.stringMatching(known)]);
    }
  }
  for (const [who, address] of [
    [owner, "/portal/activations/calendar?month=2026-13"],
    [admin, "/console/stock?below=few"],
    [admin, "/console/orders?waiting=everything"],
  ] as const) {
    expect([address, (await who.get(address)).status]).toEqual([address, 400]);
  }
});

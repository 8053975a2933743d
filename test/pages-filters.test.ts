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
      for (const as of ["", "&format=csv"]) {
        const { status, text } = await who.get(`${path}?${name}=2026-13-45${as}`);
        // A partner is looked up by its name, or is one of the choices.
        const said = text.replace("No such partner: ", "partner must be there: ");
        expect([path, status, said]).toEqual([
          path,
          name === "partner" ? status : 400,
          expect.stringContaining(`${name} must be `),
        ]);
      }
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

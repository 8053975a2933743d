import { expect, test } from "vitest";
import { person, startPages } from "./support/pages.ts";

test("pages of users and credentials have their history", async () => {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const admin = await person(platform, { role: "admin" });
  const historyOf = async (path: string) => {
    const { page, status } = await admin.get(path);
    expect(status).toBe(200);
    return page.querySelectorAll(".timeline li").map(({ text }) => text.replace(/^.*?\d\d:\d\d /, ""));
  };
  for (const path of [`/console/users/${owner.id}?partner=acme`, `/console/partners/acme/users/${owner.id}`]) {
    expect(await historyOf(path)).toContainEqual(expect.stringMatching(/^audit test: users\.invite/));
  }
  expect(await historyOf(`/console/users/${admin.id}`)).toContainEqual(expect.stringContaining("users.invite"));
  const credential = await historyOf(`/console/partners/acme/credentials/${caller.clientId}`);
  expect(credential).toEqual([expect.stringMatching(/^audit test: credentials\.create/)]);
});

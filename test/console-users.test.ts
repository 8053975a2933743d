import { expect, test } from "vitest";
import { disableUser, updateUser } from "../src/core/accounts/change-user.ts";
import { inviteUser, resetUser } from "../src/core/accounts/invite.ts";
import { PASSWORD, person, startPages } from "./support/pages.ts";
import { visitor } from "./support/visitor.ts";

test("an admin invites staff, and the link that is shown once opens the console once", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/users");
  const invited = await admin.send(form, { email: "kim@example.com", role: "support", reveal: "yes" });
  const link = invited.page.querySelector("#link")?.textContent.trim() ?? "";
  expect(link).toMatch(new RegExp(`^${platform.url}/console/invitations/[\\w-]{43}$`));
  const kim = visitor(platform.url);
  const path = new URL(link).pathname;
  await kim.send(await kim.get(path), { name: "Kim", password: PASSWORD });
  expect((await kim.get("/console/platform")).path).toBe("/console/account/factors");
  expect((await visitor(platform.url).get(path)).status).toBe(404);
  const again = await admin.send(form, { email: "kim@example.com", role: "support" });
  expect([again.status, again.text]).toEqual([409, expect.stringContaining("exists already")]);
  const csv = await admin.get("/console/users?format=csv&of=staff&status=active");
  expect(csv.html).toContain('kim@example.com,Kim,staff,"support, reveals",active');
  expect((await admin.get("/console/users")).html).not.toContain(link);
});

test("a role is changed, a user disabled, enabled and reset, of a partner in the portal", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme", live: true });
  const admin = await person(platform, { role: "admin" });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  await person(platform, { partner: "acme", role: "owner" });
  const at = `/console/users/${owner.id}?partner=acme`;
  const changed = await admin.send(await admin.get(at), { role: "agent" });
  expect([changed.path, changed.text]).toEqual([at, expect.stringContaining("is agent now")]);
  expect(changed.text).toContain("Roleagent");
  expect((await owner.get("/portal/team")).status).not.toBe(200);
  const asked = await admin.send(changed, {}, "/disable");
  expect(asked.text).toContain(`Disable ${owner.email}?`);
  expect((await admin.get(at)).text).toContain("Statusactive");
  const disabled = await admin.send(asked, {}, "/disable");
  expect(disabled.text).toContain("Statusdisabled");
  expect((await owner.get("/portal")).path).toContain("/portal/sign-in");
  const enabled = await admin.send(disabled, {}, "/enable");
  const reset = await admin.send(await admin.send(enabled, {}, "/reset"), {}, "/reset");
  expect(reset.html).toMatch(/\/portal\/invitations\/[\w-]{43}/);
  expect((await admin.get(at)).text).toContain("Statusinvited");
  expect((await admin.get(`/console/users/${owner.id}`)).status).toBe(404);
  expect((await admin.get("/console/users/none")).status).toBe(404);
});

test("no one takes the own access away, and one admin who can sign in remains", async () => {
  const platform = await startPages();
  const { store } = platform;
  const admin = await person(platform, { role: "admin" });
  const other = await person(platform, { role: "admin" });
  const form = await admin.get(`/console/users/${other.id}`);
  expect((await admin.get(`/console/users/${admin.id}`)).page.querySelector('[action$="/disable"]')).toBeNull();
  const csrf = form.page.querySelector('[name="_csrf"]')?.getAttribute("value") ?? "";
  const post = (act: string, fields = {}) =>
    admin.post(
      `/console/users/${admin.id}/${act}`,
      { _csrf: csrf, ...fields },
      { origin: new URL(platform.url).origin },
    );
  for (const [act, fields] of [["disable"], ["reset"], ["update", { role: "viewer" }]] as const) {
    const refused = await post(act, fields);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("your own access")]);
  }
  const asked = await admin.send(form, {}, "/disable");
  expect((await admin.send(asked, {}, "/disable")).text).toContain("is disabled");
  const last = { userId: admin.id, partnerId: null, actor: `user:${other.id}` };
  await expect(store.write(disableUser, last)).rejects.toThrow("last admin");
  await expect(store.write(updateUser, { ...last, role: "viewer" })).rejects.toThrow("last admin");
  await expect(store.write(resetUser, last)).rejects.toThrow("last admin");
  // The terminal is the way back in.
  await store.write(resetUser, { ...last, actor: "operator (root, uid 0)" });
});

test("acts ask for the second factor again, and other roles may not see users", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/users");
  platform.clock.advance(11 * 60_000);
  const asked = await admin.send(form, { email: "max@example.com", role: "finance" });
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("second factor")]);
  const confirmed = await admin.send(asked, { code: admin.code() });
  expect(confirmed.page.querySelector("#link")).not.toBeNull();
  for (const role of ["support", "finance", "viewer"] as const) {
    const other = await person(platform, { role });
    expect((await other.get("/console/users")).status).toBe(403);
    expect((await other.get(`/console/users/${admin.id}`)).status).toBe(403);
  }
  const invited = { email: "pat@example.com", role: "owner", partnerId: null, actor: "test" };
  await expect(platform.store.write(inviteUser, invited)).rejects.toThrow("role");
});

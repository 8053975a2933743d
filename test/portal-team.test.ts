import { expect, test } from "vitest";
import { inviteUser } from "../src/core/accounts/invite.ts";
import { PASSWORD, person, startPages } from "./support/pages.ts";
import { type Seen, visitor } from "./support/visitor.ts";

function linkOn({ html }: Seen): string {
  return /https?:\/\/[^\s<]+\/portal\/invitations\/[\w-]{43}/.exec(html)?.[0] ?? "";
}

async function accept(url: string, link: string, name: string) {
  const browser = visitor(url);
  const form = await browser.get(new URL(link).pathname);
  return { ...browser, seen: await browser.send(form, { name, password: PASSWORD }) };
}

async function withTeam() {
  const platform = await startPages();
  await platform.caller({ slug: "acme", live: true });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  return { ...platform, owner };
}

test("an owner invites a person, whose link is shown once, and changes the role", async () => {
  const { owner, url } = await withTeam();
  const invited = await owner.send(await owner.get("/portal/team"), { email: "kim@acme.example", role: "agent" });
  const link = linkOn(invited);
  expect([invited.status, link]).toEqual([200, expect.stringContaining(`${url}/portal/invitations/`)]);
  const kim = await accept(url, link, "Kim Acme");
  expect([kim.seen.path, (await kim.get("/portal/team")).status]).toEqual(["/portal", 403]);
  const list = await owner.get("/portal/team");
  expect(list.text).toContain("kim@acme.exampleKim Acmeagentactive");
  expect(linkOn(list)).toBe("");
  const csv = await owner.get("/portal/team?format=csv");
  expect(csv.html).toContain("kim@acme.example,Kim Acme,agent,active");

  const path = hrefOf(list, "kim@acme.example");
  const changed = await owner.send(await owner.get(path), { role: "developer" }, "/role");
  expect(changed.text).toContain("kim@acme.example is developer now.");
  expect(changed.text).toContain("role: agent → developer, by Pat owner");
  const twice = await owner.send(await owner.get("/portal/team"), { email: "kim@acme.example", role: "viewer" });
  expect([twice.status, twice.text]).toEqual([409, expect.stringContaining("exists already")]);
});

function hrefOf({ page }: Seen, text: string): string {
  const found = page.querySelectorAll("a").find((one) => one.textContent === text);
  return found?.getAttribute("href") ?? "";
}

test("a person who was removed signs in no more, and can be invited again", async () => {
  const { owner, url } = await withTeam();
  const invite = async (email: string) =>
    linkOn(await owner.send(await owner.get("/portal/team"), { email, role: "viewer" }));
  const kim = await accept(url, await invite("kim@acme.example"), "Kim");
  const path = hrefOf(await owner.get("/portal/team"), "kim@acme.example");
  const asked = await owner.send(await owner.get(path), {}, "/remove");
  expect(asked.text).toContain("Remove kim@acme.example?");
  expect((await kim.get("/portal")).path).toBe("/portal");
  const removed = await owner.send(asked, {}, "/remove");
  expect([removed.path, removed.text]).toEqual(["/portal/team", expect.stringContaining("is removed from the team")]);
  expect((await kim.get("/portal")).path).toBe("/portal/sign-in");
  const form = await kim.get("/portal/sign-in");
  expect((await kim.send(form, { email: "kim@acme.example", password: PASSWORD })).status).toBe(400);
  const again = await accept(url, await invite("kim@acme.example"), "Kim again");
  expect(again.seen.path).toBe("/portal");
});

test("the last owner is neither demoted nor removed, nor given a new invitation", async () => {
  const platform = await withTeam();
  const { owner } = platform;
  const path = `/portal/team/${owner.id}`;
  const own = await owner.get(path);
  const demoted = await owner.send(own, { role: "viewer" }, "/role");
  expect([demoted.status, demoted.text]).toEqual([409, expect.stringContaining("last owner")]);
  const removed = await owner.send(own, {}, "/remove");
  expect([removed.status, removed.text]).toEqual([409, expect.stringContaining("last owner")]);
  const other = await person(platform, { partner: "acme", role: "owner" });
  const form = await other.get(`/portal/team/${owner.id}`);
  const reset = await owner.post(`${path}/invitation`, { _csrf: csrfOf(own) });
  expect([reset.status, reset.text]).toEqual([409, expect.stringContaining("your own account")]);
  expect((await other.send(form, { role: "viewer" }, "/role")).status).toBe(200);
  expect((await owner.get("/portal/team")).status).toBe(403);
});

function csrfOf({ page }: Seen): string {
  return page.querySelector('input[name="_csrf"]')?.getAttribute("value") ?? "";
}

test("a locked-out person gets a new invitation; one who also works elsewhere does not", async () => {
  const platform = await withTeam();
  const { owner, url, store } = platform;
  const kim = await person(platform, { partner: "acme", role: "agent" });
  const asked = await owner.send(await owner.get(`/portal/team/${kim.id}`), {}, "/invitation");
  expect(asked.text).toContain(`Give a new invitation to ${kim.email}?Password, second factors,`);
  expect((await kim.get("/portal")).path).toBe("/portal");
  const shown = await owner.send(asked, {}, "/invitation");
  expect((await kim.get("/portal")).path).toBe("/portal/sign-in");
  const again = await accept(url, linkOn(shown), "Kim");
  expect(again.seen.path).toBe("/portal");

  const { partnerId } = await platform.caller({ slug: "globex", live: true });
  await store.write(inviteUser, { partnerId, email: kim.email, role: "viewer", actor: "test" });
  const refused = await owner.send(await owner.get(`/portal/team/${kim.id}`), {}, "/invitation");
  expect([refused.status, linkOn(refused)]).toEqual([409, ""]);
  expect(refused.text).toContain("only the operator can do this");
});

test("people of another partner, and of the staff, are not found", async () => {
  const platform = await withTeam();
  await platform.caller({ slug: "globex", live: true });
  const other = await person(platform, { partner: "globex", role: "owner" });
  const staff = await person(platform, { role: "admin" });
  const { owner } = platform;
  const _csrf = csrfOf(await owner.get("/portal/team"));
  for (const { id } of [other, staff, { id: "none" }]) {
    const path = `/portal/team/${id}`;
    expect((await owner.get(path)).status).toBe(404);
    for (const act of ["role", "invitation", "remove"]) {
      const sent = await owner.post(`${path}/${act}`, { _csrf, role: "viewer", confirmed: "yes" });
      expect([act, sent.status]).toEqual([act, 404]);
    }
  }
  expect((await other.get("/portal/team")).status).toBe(200);
});

test("other roles see no team", async () => {
  const platform = await withTeam();
  for (const role of ["developer", "agent", "viewer"] as const) {
    const one = await person(platform, { partner: "acme", role });
    expect([role, (await one.get("/portal/team")).status]).toEqual([role, 403]);
    const sent = await one.post("/portal/team", { email: "x@acme.example", role: "owner" });
    expect([role, sent.status]).toEqual([role, 403]);
  }
});

test("an owner demands a second factor of all, after giving the own one again", async () => {
  const platform = await withTeam();
  const secured = await person(platform, { partner: "acme", role: "owner", factor: true });
  platform.clock.advance(11 * 60_000);
  const asked = await secured.send(await secured.get("/portal/team"), { required: "yes" });
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("second factor again")]);
  const done = await secured.send(asked, { code: secured.code() });
  expect(done.text).toContain("All of the team need a second factor to sign in.");
  expect((await platform.owner.get("/portal")).path).toBe("/portal/account/factors");
  const undone = await secured.send(await secured.get("/portal/team"), {}, "/second-factor");
  expect(undone.text).toContain("Each of the team decides about a second factor alone.");
});

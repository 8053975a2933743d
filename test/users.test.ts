import { expect, test } from "vitest";
import { deskOf } from "./support/desk.ts";
import { PASSWORD, startPages } from "./support/pages.ts";
import { visitor } from "./support/visitor.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

test("an invitation is a link that is valid once, for 72 hours; a refused password does not use it up", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const desk = deskOf(platform);
  const { user, link, expires_at } = await desk.json("users invite olga@acme.example --partner acme --role owner");
  expect(user).toEqual({
    id: expect.any(String),
    email: "olga@acme.example",
    name: null,
    role: "owner",
    partner: "acme",
    reveal: false,
    status: "invited",
  });
  expect(link).toMatch(/\/portal\/invitations\/[\w-]{43}$/);
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 71 * 60 * 60 * 1000);
  const path = new URL(link).pathname;
  const olga = visitor(platform.url);
  const form = await olga.get(path);
  for (const password of ["short", "password1234", "123456789012", "qwertyqwerty", "aaaaaaaaaaaa"]) {
    const refused = await olga.send(form, { name: "Olga", password });
    expect([password, refused.status, refused.html.includes(password)]).toEqual([password, 400, false]);
  }
  const inside = await olga.send(form, { name: "Olga", password: PASSWORD });
  expect([inside.status, inside.path]).toEqual([200, "/portal"]);
  const again = await visitor(platform.url).get(path);
  expect(again.status).toBe(404);
  expect(await desk.json("users show olga@acme.example")).toMatchObject({ name: "Olga", status: "active" });
});

test("an invitation that is older, of a disabled user, or from before a reset, is worth nothing", async () => {
  const platform = await startPages();
  const desk = deskOf(platform);
  const pathOf = ({ link }: { link: string }) => new URL(link).pathname;
  const first = pathOf(await desk.json("users invite ada@example.com --role admin"));
  const second = pathOf(await desk.json("users reset ada@example.com --yes"));
  const ada = visitor(platform.url);
  expect([(await ada.get(first)).status, (await ada.get(second)).status]).toEqual([404, 200]);
  await desk.json("users disable ada@example.com --yes");
  expect((await ada.get(second)).status).toBe(404);
  expect(await desk.json("users enable ada@example.com")).toMatchObject({ status: "invited" });
  const third = pathOf(await desk.json("users reset ada@example.com --yes"));
  expect((await ada.get(third)).status).toBe(200);
  // The terminal's clock is the system's, the platform's its own.
  platform.clock.set(new Date(Date.now() + 4 * DAY_MS).toISOString());
  expect((await ada.get(third)).status).toBe(404);
});

test.each([
  ["users invite x --role admin", "validation"],
  ["users invite a@b.example --role owner", "validation"],
  ["users invite a@b.example --role admin --partner acme", "validation"],
  ["users invite a@b.example --role owner --partner nope", "not_found"],
  ["users invite a@b.example --role owner --partner acme --reveal", "validation"],
  ["users show none@example.com", "not_found"],
  ["users update known@example.com --role owner", "validation"],
  ["users invite known@example.com --role viewer", "duplicate"],
  ["users invite known@example.com --role owner --partner acme", "duplicate"],
])("%s is refused: %s", async (line, code) => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const desk = deskOf(platform);
  await desk.json("users invite known@example.com --role support");
  expect(await desk.refusal(line)).toMatchObject({ exitCode: 1, code });
  expect((await desk.json("users list")).count).toBe(1);
});

test("a user may have roles at several partners; disabling and resetting ask first", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  await platform.caller({ slug: "beta" });
  const desk = deskOf(platform);
  await desk.json("users invite max@example.com --partner acme --role agent");
  await desk.json("users invite Max@Example.com --partner beta --role viewer");
  const { data } = await desk.json("users list");
  expect(data).toMatchObject([
    { partner: "acme", role: "agent" },
    { partner: "beta", role: "viewer" },
  ]);
  expect(data[0].id).toBe(data[1].id);
  expect(await desk.json("users list --partner beta")).toMatchObject({ count: 1 });
  expect(await desk.json("users update max@example.com --partner beta --role owner")).toMatchObject({
    partner: "beta",
    role: "owner",
  });
  for (const verb of ["disable", "reset"]) {
    expect((await desk.refusal(`users ${verb} max@example.com`)).exitCode).toBe(2);
  }
  const { data: audit } = await desk.json("audit list");
  expect(JSON.stringify(audit)).not.toContain("max@example");
});

test("a role at another partner holds once its own link was used by the person", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  await platform.caller({ slug: "beta" });
  const desk = deskOf(platform);
  const invite = (partner: string) => desk.json(`users invite max@example.com --partner ${partner} --role owner`);
  const early = visitor(platform.url);
  const first = await invite("acme");
  await early.send(await early.get(new URL(first.link).pathname), { name: "Not Max", password: PASSWORD });
  const second = await invite("beta");
  expect(second.user).toMatchObject({ partner: "beta", name: null, status: "invited" });
  const again = visitor(platform.url);
  const inside = await again.send(await again.get("/portal/sign-in"), { email: "max@example.com", password: PASSWORD });
  expect(inside.html).toContain("acme");
  await desk.json("partners suspend acme --yes");
  const refused = await again.send(await again.get("/portal/sign-in"), {
    email: "max@example.com",
    password: PASSWORD,
  });
  expect(refused.status).toBe(403);
  const other = visitor(platform.url);
  const form = await other.get(new URL(second.link).pathname);
  expect((await other.send(form, { password: "another password 1" })).status).toBe(400);
  expect((await other.send(form, { password: PASSWORD })).html).toContain("beta");
  expect(await desk.json("users list --partner beta")).toMatchObject({ data: [{ name: "Not Max", status: "active" }] });
});

import { expect, test } from "vitest";
import { deskOf } from "./support/desk.ts";
import { PASSWORD, person, startPages, totpCode } from "./support/pages.ts";
import { csrfOf, type Seen, type Visitor, visitor } from "./support/visitor.ts";

const MINUTE_MS = 60_000;

async function signIn(browser: Visitor, email: string, password = PASSWORD, face = "portal"): Promise<Seen> {
  return browser.send(await browser.get(`/${face}/sign-in`), { email, password });
}

/** What a page says, without what differs between any two pages. */
const words = ({ status, text }: Seen) => [status, text.replace(/Request \S+/, "")];

async function ofAcme() {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const owner = await person(platform, { partner: "acme", role: "owner" });
  return { platform, owner };
}

test("a password leads into the portal, to the page that was asked for, and nowhere else", async () => {
  const { platform, owner } = await ofAcme();
  const browser = visitor(platform.url);
  const asked = await browser.get("/portal/orders?status=fulfilled");
  expect(asked.path).toBe("/portal/sign-in?next=%2Forders%3Fstatus%3Dfulfilled");
  const inside = await browser.send(asked, { email: owner.email.toUpperCase(), password: PASSWORD });
  expect([inside.status, inside.path]).toEqual([200, "/portal/orders?status=fulfilled"]);
  for (const next of ["//evil.example/", "https://evil.example", "/\\evil.example", "/../../evil"]) {
    const other = visitor(platform.url);
    const form = await other.get(`/portal/sign-in?next=${encodeURIComponent(next)}`);
    const { path } = await other.send(form, { email: owner.email, password: PASSWORD });
    expect(new URL(path, platform.url).pathname).toMatch(/^\/portal/);
  }
});

test("cookies are bound to this host, to TLS and to HTTP", async () => {
  const { platform, owner } = await ofAcme();
  const browser = visitor(platform.url);
  const form = await browser.get("/portal/sign-in");
  const response = await fetch(`${platform.url}/portal/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    body: new URLSearchParams({
      _csrf: form.page.querySelector("[name=_csrf]")?.getAttribute("value") ?? "",
      email: owner.email,
      password: PASSWORD,
    }),
  });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/portal"]);
  const session = response.headers.getSetCookie().find((line) => line.startsWith("__Host-esimctl=")) ?? "";
  expect(session).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  expect(session).not.toContain("Domain");
});

test("unknown addresses, wrong passwords and disabled users get the same answer", async () => {
  const { platform, owner } = await ofAcme();
  const { email } = await person(platform, { partner: "acme", role: "viewer" });
  await deskOf(platform).json(`users disable ${email} --yes`);
  const answers = [];
  for (const [address, password] of [
    ["unknown@example.com", PASSWORD],
    [owner.email, "another password 1"],
    [email, PASSWORD],
    ["not an address", PASSWORD],
  ] as const) {
    answers.push(words(await signIn(visitor(platform.url), address, password)));
  }
  expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(answers[0]?.[0]).toBe(400);
});

test("attempts wait after five failures of an account, known or not, and never before a first good one", async () => {
  const { platform, owner } = await ofAcme();
  for (const email of [owner.email, "unknown@example.com"]) {
    const statuses = [];
    for (let at = 0; at < 7; at++)
      statuses.push((await signIn(visitor(platform.url), email, `wrong ${at} wrong`)).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429]);
  }
  const early = await signIn(visitor(platform.url), owner.email);
  expect([early.status, Number(early.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  platform.clock.advance(3_000);
  expect((await signIn(visitor(platform.url), owner.email)).path).toBe("/portal");
  // A good one begins to count again.
  expect((await signIn(visitor(platform.url), owner.email, "wrong again wrong")).status).toBe(400);
  const other = await person(platform, { partner: "acme", role: "agent" });
  for (let at = 0; at < 5; at++) await signIn(visitor(platform.url), other.email, `wrong ${at} wrong`);
  expect((await signIn(visitor(platform.url), other.email)).path).toBe("/portal");
});

test("attempts from one address wait after twenty failures of any accounts", async () => {
  const { platform, owner } = await ofAcme();
  for (let at = 0; at < 20; at++) {
    expect((await signIn(visitor(platform.url), `user-${at}@example.com`, "wrong wrong 1")).status).toBe(400);
  }
  expect((await signIn(visitor(platform.url), "one-more@example.com", "wrong wrong 1")).status).toBe(429);
  expect((await signIn(visitor(platform.url), owner.email)).status).toBe(429);
  platform.clock.advance(16 * MINUTE_MS);
  expect((await signIn(visitor(platform.url), owner.email)).path).toBe("/portal");
});

test("an app is set up by its address; each of its codes signs in once, and each recovery code", async () => {
  const { platform, owner } = await ofAcme();
  const begun = await owner.send(await owner.get("/portal/account/factors"), {}, "/account/factors/app");
  const secret = /secret=([A-Z2-7]+)/.exec(begun.text)?.[1] ?? "";
  expect(begun.text).toContain("otpauth://totp/esimctl:");
  const wrong = await owner.send(begun, { code: "000000" }, "/account/factors/app/confirm");
  expect(wrong.status).toBe(400);
  const confirmed = await owner.send(begun, { code: totpCode(secret, platform.clock.now()) }, "/confirm");
  const codes = confirmed.text.match(/[2-9a-z]{4}-[2-9a-z]{4}-[2-9a-z]{4}/g) ?? [];
  expect(codes).toHaveLength(10);
  const [one = "", two = ""] = codes;

  const enter = async (code: string) => {
    const browser = visitor(platform.url);
    const asked = await signIn(browser, owner.email);
    expect(asked.path).toBe("/portal/sign-in/factor");
    expect((await browser.get("/portal/orders")).path).toBe("/portal/sign-in/factor");
    return browser.send(asked, { code });
  };
  expect((await enter(totpCode(secret, platform.clock.now()))).status).toBe(400);
  platform.clock.advance(30_000);
  const next = totpCode(secret, platform.clock.now());
  expect((await enter(next)).path).toBe("/portal");
  expect((await enter(next)).status).toBe(400);
  expect((await enter(one)).path).toBe("/portal");
  expect((await enter(one)).status).toBe(400);
  platform.clock.advance(60_000);
  expect((await enter(two.toUpperCase().replaceAll("-", " "))).path).toBe("/portal");
});

test("a session gets a token of its own, and another with the second factor", async () => {
  const { platform } = await ofAcme();
  const staff = await person(platform, { role: "admin" });
  const browser = visitor(platform.url);
  const fixed = "A".repeat(43);
  browser.cookies.set("__Host-esimctl", fixed);
  const asked = await signIn(browser, staff.email, PASSWORD, "console");
  const before = browser.cookies.get("__Host-esimctl") ?? "";
  expect(before).not.toBe(fixed);
  await browser.send(asked, { code: staff.code() });
  expect(browser.cookies.get("__Host-esimctl")).not.toBe(before);
  const thief = visitor(platform.url);
  thief.cookies.set("__Host-esimctl", before);
  expect((await thief.get("/console")).path).toMatch("/console/sign-in");
});

test.each(["sign-out", "password", "disable", "suspend", "reset", "idle", "a week", "ended by its user"])(
  "a stolen cookie is worth nothing after: %s",
  async (how) => {
    const { platform, owner } = await ofAcme();
    const desk = deskOf(platform);
    const thief = visitor(platform.url);
    const other = visitor(platform.url);
    await signIn(other, owner.email);
    thief.cookies.set("__Host-esimctl", other.cookies.get("__Host-esimctl") ?? "");
    expect((await thief.get("/portal/orders")).status).toBe(200);
    const account = await owner.get("/portal/account");
    if (how === "sign-out") await other.send(await other.get("/portal"), {}, "/sign-out");
    if (how === "password") {
      const sent = await owner.send(account, { current: PASSWORD, password: "green heron sits 7" });
      expect(sent.text).toContain("password is changed");
    }
    if (how === "disable") await desk.json(`users disable ${owner.email} --yes`);
    if (how === "suspend") await desk.json("partners suspend acme --yes");
    if (how === "reset") await desk.json(`users reset ${owner.email} --yes`);
    if (how === "idle") platform.clock.advance(12 * 60 * MINUTE_MS);
    if (how === "a week") {
      for (let hours = 0; hours < 7 * 24; hours += 8) {
        platform.clock.advance(8 * 60 * MINUTE_MS);
        await thief.get("/portal/orders");
      }
    }
    if (how === "ended by its user") await owner.send(account, {}, "/account/sessions/end");
    expect((await thief.get("/portal/orders")).path).toMatch("/portal/sign-in");
    // A new password does not end the session that it was changed in.
    const own = (await owner.get("/portal/orders")).status === 200;
    const kept = (await owner.get("/portal/orders")).path === "/portal/orders";
    expect([own, kept]).toEqual([true, how === "sign-out" || how === "password" || how === "ended by its user"]);
  },
);

test("staff must set up a second factor before anything else", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const desk = deskOf(platform);
  const { link } = await desk.json("users invite ada@example.com --role viewer");
  const ada = visitor(platform.url);
  const inside = await ada.send(await ada.get(new URL(link).pathname), { name: "Ada", password: PASSWORD });
  expect(inside.path).toBe("/console/account/factors");
  expect((await ada.get("/console/orders")).path).toBe("/console/account/factors");
  expect((await ada.get("/portal/orders")).path).toBe("/portal/account/factors");
});

test("the pages are not there with --no-pages", async () => {
  const platform = await startPages({ pages: false });
  for (const path of ["/portal", "/console", "/portal/sign-in"]) {
    expect((await visitor(platform.url).get(path)).status).toBe(404);
  }
});

test("the password of a session that was left open is not guessed: attempts wait as at the sign-in", async () => {
  const { platform, owner } = await ofAcme();
  const statuses = [];
  for (let at = 0; at < 6; at++) {
    const account = await owner.get("/portal/account");
    statuses.push((await owner.send(account, { current: `wrong ${at} wrong`, password: "green heron sits 7" })).status);
  }
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  const account = await owner.get("/portal/account");
  const right = { current: PASSWORD, password: "green heron sits 7" };
  expect((await owner.send(account, right)).status).toBe(429);
  platform.clock.advance(3_000);
  expect((await owner.send(account, right)).text).toContain("password is changed");
});

test("sign-ins wait for each other in a line that has an end: beyond it they are to come back later", {
  tags: ["slow"],
}, async () => {
  const { platform, owner } = await ofAcme();
  const browser = visitor(platform.url);
  const form = await browser.get("/portal/sign-in");
  const { _csrf } = csrfOf(form);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const body = { _csrf, email: owner.email, password: PASSWORD };
  const sent = await Promise.all(
    Array.from({ length: 90 }, async () => {
      const asked = {
        method: "POST",
        redirect: "manual",
        headers: { cookie },
        body: new URLSearchParams(body),
      } as const;
      const { status, headers } = await fetch(`${platform.url}/portal/sign-in`, asked);
      return `${status} ${headers.get("retry-after")}`;
    }),
  );
  const many = Map.groupBy(sent, (answer) => answer);
  expect([...many.keys()].sort()).toEqual(["303 null", "503 5"]);
  expect(many.get("303 null")?.length).toBeGreaterThan(50);
  // What was refused counts as no attempt.
  expect((await signIn(visitor(platform.url), owner.email)).path).toBe("/portal");
});

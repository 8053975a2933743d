/** @module-tag slow */
import { expect, test } from "vitest";
import { mayInConsole, mayInPortal } from "../../src/core/accounts/roles.ts";
import { partnerRoles, staffRoles } from "../../src/core/store/schema/values.ts";
import { allPages } from "../../src/web/all-pages.ts";
import type { RegisteredPage } from "../../src/web/session/page.ts";
import type { Face } from "../../src/web/session/visit.ts";
import { fillDemo } from "../support/demo-content.ts";
import { type DemoPages, startDemoPages } from "../support/demo-pages.ts";
import { isFileOf, kindOf } from "../support/page-kinds.ts";
import { PASSWORD } from "../support/pages.ts";
import { startReceiver } from "../support/receiver.ts";
import { type Seen, type Visitor, visitor } from "../support/visitor.ts";

/** Pages of one kind that are looked at: they differ by the states of what they show. */
const ALIKE = 3;

interface Role {
  face: Face;
  role: string;
  may(needs: string): boolean;
}

// The permissions of a page are those of its face.
const roles: readonly Role[] = [
  ...partnerRoles.map((role): Role => ({ face: "portal", role, may: (needs) => mayInPortal(role, needs as never) })),
  ...staffRoles.map(
    (role): Role => ({
      ...{ face: "console", role },
      may: (needs) => mayInConsole({ role, reveal: false }, needs as never),
    }),
  ),
];

test("no role, nor staff in a portal, is shown a link or a form that it may not use", async () => {
  const demo = await startDemoPages();
  await fillDemo(demo, (await startReceiver(500)).url);
  for (const role of roles) {
    const shown = await shownTo(await member(demo, role), role.face);
    expect([role.role, shown.broken]).toEqual([role.role, []]);
    expect([role.role, [...shown.offers].filter((offer) => !isFor(role, offer))]).toEqual([role.role, []]);
    expect(shown.offers.size).toBeGreaterThan(10);
  }
  const admin = await member(demo, { face: "console", role: "admin" }, "other@staff.example");
  await admin.send(await admin.get("/console/partners/demo"), {}, "/view-as");
  const { broken, offers } = await shownTo(admin, "portal");
  expect(broken).toEqual([]);
  const posts = [...offers].filter((offer) => offer.startsWith("POST"));
  expect(posts.filter((offer) => changes(neededBy("portal", offer)))).toEqual([]);
});

/** Not to be used by staff who look at a partner's portal as it sees itself. */
const changes = (needs = "") => /\.write$|fund$|team$/.test(needs);

/** A person who has just taken an invitation, staff with a second factor. */
async function member(
  demo: DemoPages,
  { face, role }: Pick<Role, "face" | "role">,
  email = `${role}@${face}.example`,
): Promise<Visitor> {
  const of = face === "portal" ? ["--partner", "demo"] : [];
  const { link } = await demo.operator("users", "invite", email, ...of, "--role", role);
  const browser = visitor(demo.url);
  const form = await browser.get(new URL(link).pathname);
  const inside = await browser.send(form, { name: `Pat ${role}`, password: PASSWORD });
  if (face === "portal") return browser;
  const app = await browser.send(inside, {}, "/account/factors/app");
  const [, secret = ""] = /otpauth:\S*[?&]secret=([A-Z2-7]+)/.exec(app.text) ?? [];
  await browser.send(app, { code: demo.app(secret)() });
  return browser;
}

/** All links and forms of all pages that links of a face lead to, as "GET /path", and pages that are none. */
async function shownTo(browser: Visitor, face: Face): Promise<{ offers: Set<string>; broken: string[] }> {
  const [offers, broken, known] = [new Set<string>(), [] as string[], new Map<string, number>()];
  const waiting = [`/${face}`];
  const seen = new Set(waiting);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const page = await browser.get(path);
    // What is not possible at this moment is said with 409.
    if (page.status !== 200 && page.status !== 409) broken.push(`${path} answers ${page.status}`);
    for (const [method, address] of offersOf(page)) {
      if (!address.pathname.startsWith(`/${face}`)) continue;
      offers.add(`${method} ${address.pathname.slice(face.length + 1) || "/"}`);
      const next = address.pathname + address.search;
      const kind = kindOf(address);
      const many = known.get(kind) ?? 0;
      if (method === "POST" || isFileOf(address) || seen.has(next) || many >= ALIKE) continue;
      known.set(kind, many + 1);
      seen.add(next);
      waiting.push(next);
    }
  }
  return { offers, broken };
}

function offersOf({ page, path }: Seen): (readonly ["GET" | "POST", URL])[] {
  const at = (address: string | undefined) => new URL(address ?? path, `http://here${path}`);
  const links = page.querySelectorAll("a[href]").map((link) => ["GET", at(link.getAttribute("href"))] as const);
  const forms = page.querySelectorAll("form").flatMap((form) => {
    const method = form.getAttribute("method") === "post" ? ("POST" as const) : ("GET" as const);
    const others = form.querySelectorAll("[formaction]").map((button) => button.getAttribute("formaction"));
    return [form.getAttribute("action"), ...others].map((address) => [method, at(address)] as const);
  });
  return [...links, ...forms];
}

/** What the page or the act at an address needs; undefined: there is none. The most exact pattern counts. */
function neededBy(face: Face, offer: string): string | undefined {
  const [method, path = ""] = offer.split(" ");
  const fits = (allPages as readonly RegisteredPage[]).filter(({ face: of, page }) => {
    const pattern = new RegExp(`^${page.path.replace(/:\w+/g, "[^/]+") || "/"}$`);
    return of === face && pattern.test(path) && (method === "GET" ? page.show : page.act) !== undefined;
  });
  const [first] = fits.toSorted((one, other) => one.page.path.split(":").length - other.page.path.split(":").length);
  return first?.page.needs;
}

const isOpen = (needs: string | undefined) => ["visitor", "session", "account"].includes(needs ?? "");

function isFor({ face, may }: Role, offer: string): boolean {
  const needs = neededBy(face, offer);
  return needs !== undefined && (isOpen(needs) || may(needs));
}

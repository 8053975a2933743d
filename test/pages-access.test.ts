import { expect, test } from "vitest";
import { consolePermissions, portalPermissions } from "../src/core/accounts/roles.ts";
import { partnerRoles, staffRoles } from "../src/core/store/schema/values.ts";
import { allPages } from "../src/web/all-pages.ts";
import type { RegisteredPage } from "../src/web/session/page.ts";
import type { Face } from "../src/web/session/visit.ts";
import { type Person, person, startPages } from "./support/pages.ts";
import { csrfOf, type Seen, visitor } from "./support/visitor.ts";

const faces = ["portal", "console"] as const;
const rolesOf = { portal: partnerRoles, console: staffRoles } as const;

/** What a page or act answers a role: `yes`, or why not. */
type Answer = "yes" | "no" | "sign-in";

interface PageAct {
  method: "GET" | "POST";
  face: Face;
  path: string;
  needs: string;
}

/** Every page and act, once. */
const asked = allPages.flatMap(({ face, page }: RegisteredPage): PageAct[] => {
  const { path, needs } = page;
  return [
    ...(page.show === undefined ? [] : [{ method: "GET" as const, face, path, needs }]),
    ...(page.act === undefined ? [] : [{ method: "POST" as const, face, path, needs }]),
  ];
});

// The last ones: these end the session that the others are asked in.
const ending = (path: string) => path === "/sign-out";
const inOrder = asked.toSorted((a, b) => Number(ending(a.path)) - Number(ending(b.path)));

/** An address of the page, of records that are not there. */
const addressOf = ({ face, path }: PageAct) => `/${face}${path.replace(/:\w+/g, "none")}`;

const answerOf = ({ status, path, text }: Seen): Answer => {
  if (path.includes("/sign-in")) return "sign-in";
  return status === 403 && text.includes("role does not allow") ? "no" : "yes";
};

async function ask(one: PageAct, who: Pick<Person, "get" | "post">, csrf: object): Promise<Answer> {
  if (one.method === "GET") return answerOf(await who.get(addressOf(one)));
  return answerOf(await who.post(addressOf(one), { ...csrf }));
}

test("every page and act declares a permission of its own face, and each permission is used", () => {
  const known = { portal: portalPermissions, console: consolePermissions } as const;
  const open = ["visitor", "session", "account"];
  for (const face of faces) {
    const needs = new Set(asked.filter((one) => one.face === face).map((one) => one.needs));
    const names: readonly string[] = known[face];
    expect([...needs].filter((one) => !names.includes(one) && !open.includes(one))).toEqual([]);
    expect(names.filter((one) => !needs.has(one))).toEqual([]);
  }
  expect(new Set(asked.map((one) => `${one.method} ${addressOf(one)}`)).size).toBe(asked.length);
});

test("each role may use the pages and acts that its permissions name, and no others", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme", agent: true });
  const columns = new Map<string, Map<PageAct, Answer>>();
  for (const face of faces) {
    for (const role of rolesOf[face]) {
      const who =
        face === "portal"
          ? await person(platform, { partner: "acme", role: role as (typeof partnerRoles)[number] })
          : await person(platform, { role: role as (typeof staffRoles)[number] });
      const csrf = csrfOf(await who.get(`/${face}/account`));
      const answers = new Map<PageAct, Answer>();
      for (const one of inOrder.filter((each) => each.face === face && !isOpen(each))) {
        answers.set(one, await ask(one, who, csrf));
      }
      columns.set(`${face} ${role}`, answers);
    }
  }
  const rows = faces.flatMap((face) => [
    `## ${face === "portal" ? "Portal" : "Console"}`,
    "",
    `| page or act | permission | ${rolesOf[face].join(" | ")} |`,
    `| --- | --- | ${rolesOf[face].map(() => "---").join(" | ")} |`,
    ...asked
      .filter((one) => one.face === face && !isOpen(one))
      .map((one) => {
        const cells = rolesOf[face].map((role) => columns.get(`${face} ${role}`)?.get(one) ?? "");
        return `| \`${one.method} /${face}${one.path}\` | ${one.needs} | ${cells.join(" | ")} |`;
      })
      .sort(),
    "",
  ]);
  await expect([...intro, ...rows].join("\n")).toMatchFileSnapshot("../docs/access-pages.md");
});

const intro = [
  "# Access to the pages",
  "",
  "Which roles may use each page (GET) and act (POST) of portal and console. `test/pages-access.test.ts` makes each",
  "of these requests; `npx vitest run test/pages-access.test.ts -u` writes this page. The roles are in",
  "`src/core/accounts/roles.ts`. Without a session each of them leads to the sign-in form. `reveal` may be granted to",
  "staff of any role alone (`esimctl users update EMAIL --reveal`).",
  "",
];

/** Pages that any visitor or any person who is signed in may use. */
function isOpen({ needs }: PageAct): boolean {
  return needs === "visitor" || needs === "session" || needs === "account";
}

test("without a session each page leads to the sign-in form, and with one of the other face nowhere", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme" });
  const people = {
    portal: await person(platform, { partner: "acme", role: "owner" }),
    console: await person(platform, { role: "admin" }),
  };
  const stranger = visitor(platform.url);
  for (const one of asked.filter((each) => each.needs !== "visitor" && !ending(each.path))) {
    expect([one, await ask(one, stranger, {})]).toEqual([one, "sign-in"]);
    if (isOpen(one)) continue;
    const other = one.face === "portal" ? people.console : people.portal;
    const csrf = csrfOf(await other.get(`/${one.face === "portal" ? "console" : "portal"}/account`));
    expect([one, await ask(one, other, csrf)]).toEqual([one, "no"]);
  }
});

test("staff that look at a partner as it sees itself may read everything and change nothing", async () => {
  const platform = await startPages();
  await platform.caller({ slug: "acme", agent: true });
  const admin = await person(platform, { role: "admin" });
  await admin.send(await admin.get("/console/partners/acme"), {}, "/view-as");
  const acts = asked.filter((one) => one.face === "portal" && one.method === "POST" && !isOpen(one));
  const csrf = csrfOf(await admin.get("/portal"));
  for (const one of acts.filter(({ needs }) => /\.write$|fund$|team$/.test(needs))) {
    expect([one, await ask(one, admin, csrf)]).toEqual([one, "no"]);
  }
  for (const page of ["/portal", "/portal/orders", "/portal/wallet", "/portal/developers", "/portal/passports"]) {
    expect((await admin.get(page)).status).toBe(200);
  }
});

/** @module-tag slow */
import { expect, test } from "vitest";
import { factorsOf, renewRecoveryCodes } from "../../src/core/accounts/factors.ts";
import { inviteUser } from "../../src/core/accounts/invite.ts";
import { openSession } from "../../src/core/accounts/sessions.ts";
import { signIn } from "../../src/core/accounts/sign-in.ts";
import { beginSignIn, failSignIn } from "../../src/core/accounts/sign-in-attempts.ts";
import { membershipsOf, userById } from "../../src/core/accounts/user.ts";
import type { UserId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { requirePartner } from "../../src/core/partners/partner.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import type { TestClock } from "../support/clock.ts";
import { targetOf } from "../support/daemon.ts";
import { startFleet } from "../support/node-fleet.ts";
import { forAllTests } from "../support/owner.ts";
import { PASSWORD, type Person, person } from "../support/pages.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { openShop } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";
import { csrfOf, type Seen, type Typed, type Visitor, visitor } from "../support/visitor.ts";
import { esimctlJson } from "../support/warm.ts";

/** How often two nodes are asked for the same thing at one moment. */
const ROUNDS = 6;

/** The clock of a person's app. Nodes have the system's, and accept a code of the step to come: one for each person. */
function appClock(): Pick<TestClock, "now" | "advance"> {
  let moved = 0;
  return {
    now: () => systemClock.now() + moved,
    advance(ms) {
      moved += ms;
    },
  };
}

/** Three nodes that serve the pages of one installation behind one address, as a proxy reaches them. */
const nodes = forAllTests(async (owner) => {
  const server = await startPostgres();
  owner(() => server.remove());
  const folder = temporaryDirectory(owner);
  const stock = { EU5: 50 };
  const { served, products } = await openShop({ folder, url: server.url, stock, priceCents: 5, fundsCents: 1_000 });
  if (!("database" in served)) throw new Error("the shop is not on PostgreSQL");
  const masterKey = readMasterKey(served.keyFile);
  const store = await openStore({ url: server.url }, { clock: systemClock, ids: randomIds(), masterKey });
  owner(() => store.close());
  const flags = ["--json", "--public-url", "http://esim.test", "--trust-proxy"];
  const { urls } = await startFleet(Array.from({ length: 3 }, () => ({ ...served, flags, owner })));
  const { args } = targetOf(served);
  return {
    store,
    products,
    partnerId: (await store.read(requirePartner, "acme")).id,
    json: (line: string) => esimctlJson([...line.split(" "), ...args]),
    person: (who: Parameters<typeof person>[1]) => person({ store, clock: appClock(), url: urls[0] ?? "" }, who),
    at: (node: number) => urls[node - 1] ?? "",
  };
});

let addresses = 0;

/** A browser at a node, at an address of its own, so that failures of others do not count for it. */
function browserAt(url: string, token?: string): Visitor {
  const browser = visitor(url, { "x-forwarded-for": `198.51.100.${++addresses}` });
  if (token !== undefined) browser.cookies.set("__Host-esimctl", token);
  return browser;
}

const tokenOf = ({ cookies }: Pick<Visitor, "cookies">) => cookies.get("__Host-esimctl") ?? "";
const pathOf = ({ path }: Seen) => path.split("?")[0];

/** The same form, filled in in two browsers, and sent by both at one moment. */
async function together(browsers: readonly Visitor[], path: string, typed: Typed, to?: string): Promise<Seen[]> {
  const forms = await Promise.all(browsers.map((browser) => browser.get(path)));
  return Promise.all(browsers.map((browser, at) => browser.send(forms[at] as Seen, typed, to)));
}

test("a session is one at all nodes: pages, forms, sign-out and the suspension of its partner", async () => {
  const { at, person, json } = nodes();
  const { email } = await person({ partner: "acme", role: "owner" });
  const one = browserAt(at(1));
  const enter = async () => one.send(await one.get("/portal/sign-in"), { email, password: PASSWORD });
  const others = () => [2, 3].map((node) => browserAt(at(node), tokenOf(one))) as [Visitor, Visitor];
  expect((await enter()).path).toBe("/portal");
  let [two, three] = others();
  for (const path of ["/portal", "/portal/orders", "/portal/wallet"]) {
    expect([(await two.get(path)).path, (await three.get(path)).path]).toEqual([path, path]);
  }
  // The form of one node is sent to another.
  const form = await one.get("/portal/wallet");
  expect((await three.send(form, { amount: "12.00", currency: "AUD" })).text).toContain("FND-");
  await two.send(await two.get("/portal"), {}, "/sign-out");
  for (const [node, cookie] of [one, three].map((browser, index) => [index * 2 + 1, tokenOf(browser)] as const)) {
    expect(pathOf(await browserAt(at(node), cookie).get("/portal/orders"))).toBe("/portal/sign-in");
  }

  expect((await enter()).path).toBe("/portal");
  [two, three] = others();
  expect((await three.get("/portal/orders")).path).toBe("/portal/orders");
  await json("partners suspend acme --yes");
  for (const browser of [one, two, three]) {
    expect(pathOf(await browser.get("/portal/orders"))).toBe("/portal/sign-in");
  }
  expect((await enter()).status).toBe(403);
  await json("partners resume acme");
});

test("what proves a person is worth one sign-in over all nodes, also where two ask at one moment", async () => {
  const { at, person, store, partnerId } = nodes();
  const owner = { partner: "acme", role: "owner", factor: true } as const;
  /** Browsers at two nodes, each with a session of the person that lacks its second factor. */
  const halfIn = async ({ id }: Person, nodes: readonly [number, number]) =>
    Promise.all(
      nodes.map(async (node) => {
        const half = { userId: id, partnerId, agent: "test", factor: false };
        return browserAt(at(node), await store.write(openSession, half));
      }),
    );
  const factor = "/portal/sign-in/factor";

  const ada = await person(owner);
  const [first, third] = (await halfIn(ada, [1, 3])) as [Visitor, Visitor];
  const code = ada.code();
  expect((await first.send(await first.get(factor), { code })).path).toBe("/portal");
  expect((await third.send(await third.get(factor), { code })).status).toBe(400);

  for (let round = 0; round < ROUNDS; round++) {
    const kim = await person(owner);
    const browsers = await halfIn(kim, [2, 3]);
    const seen = await together(browsers, factor, { code: kim.code() });
    expect(seen.map(({ status }) => status).sort()).toEqual([200, 400]);
  }

  const max = await person(owner);
  const codes = await store.write(renewRecoveryCodes, { userId: max.id, actor: "test" });
  for (const one of codes.slice(0, ROUNDS)) {
    const seen = await together(await halfIn(max, [1, 2]), factor, { code: one });
    expect(seen.map(({ status }) => status).sort()).toEqual([200, 400]);
  }
  expect((await store.read(factorsOf, max.id)).recoveryCodes).toBe(codes.length - ROUNDS);
});

test("an invitation is accepted once, and no password is set for an account that has one by another link", async () => {
  const { at, json, store, partnerId } = nodes();
  await json("partners create globex --name Globex");
  const { id: other } = await store.read(requirePartner, "globex");
  const browsers = () => [browserAt(at(1)), browserAt(at(3))] as const;
  for (let round = 0; round < ROUNDS; round++) {
    const invited = { email: `new-${round}@example.com`, role: "viewer", actor: "test" };
    const { token } = await store.write(inviteUser, { ...invited, partnerId });
    const typed = { name: "New", password: PASSWORD };
    const seen = await together(browsers(), `/portal/invitations/${token}`, typed);
    expect(seen.map(({ status }) => status).sort()).toEqual([200, 404]);

    const twice = { ...invited, email: `twice-${round}@example.com` };
    const links: { path: string; userId: UserId }[] = [];
    for (const partner of [partnerId, other]) {
      const { user, token: link } = await store.write(inviteUser, { ...twice, partnerId: partner });
      links.push({ path: `/portal/invitations/${link}`, userId: user.id });
    }
    const forms = await Promise.all(
      browsers().map(async (browser, index) => {
        return { browser, form: await browser.get(links[index]?.path ?? "") };
      }),
    );
    const sent = await Promise.all(
      forms.map(({ browser, form }, index) => {
        return browser.send(form, { name: "Two", password: `${PASSWORD} ${index}` });
      }),
    );
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 409]);
    const memberships = await store.read(membershipsOf, links[0]?.userId ?? ("none" as UserId));
    expect(memberships.filter(({ accepted }) => accepted)).toHaveLength(1);
  }
});

test("failed sign-ins count over all nodes, and those that are under way when the waiting begins", async () => {
  const { at, person, store } = nodes();
  const { email, id } = await person({ partner: "acme", role: "owner" });
  const tried = async (node: number, password: string) => {
    const browser = browserAt(at(node));
    return (await browser.send(await browser.get("/portal/sign-in"), { email, password })).status;
  };
  const statuses = [];
  for (let count = 0; count < 6; count++) statuses.push(await tried((count % 2) + 1, `wrong ${count} wrong`));
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  expect(await tried(3, PASSWORD)).toBe(429);

  // A good password that was being verified while others failed elsewhere.
  const kim = await person({ partner: "acme", role: "agent" });
  const attempt = { email: kim.email, ip: "203.0.113.1" };
  const begun = await store.read(beginSignIn, attempt);
  for (let count = 0; count < 6; count++) await store.write(failSignIn, { ...attempt, userId: kim.id });
  const right = { userId: kim.id, passwordHash: begun?.password_hash ?? "", agent: "test", attempt };
  await expect(store.write(signIn, right)).rejects.toThrow("Too many attempts");
  expect((await store.read(userById, id)).status).toBe("active");
});

test("a form with one key acts once, however many nodes it is sent to at one moment", async () => {
  const { at, person, json, products } = nodes();
  const owner = await person({ partner: "acme", role: "owner" });
  const browsers = [1, 2, 3].map((node) => browserAt(at(node), tokenOf(owner))) as Visitor[];
  const keyed = async (path: string) => {
    const seen = await owner.get(path);
    return { key: seen.page.querySelector("input[name=key]")?.getAttribute("value") ?? "", ...csrfOf(seen) };
  };
  const acts = [
    { path: "/portal/wallet", typed: { amount: "7.00", currency: "AUD", ...(await keyed("/portal/wallet")) } },
    {
      path: "/portal/orders",
      typed: { product: products.EU5 ?? "", quantity: "1", ...(await keyed("/portal/orders")) },
    },
  ];
  for (const { path, typed } of acts) {
    const seen = await Promise.all(browsers.map((browser) => browser.post(path, typed)));
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
  }
  // Lists of the terminal.
  const listed = async (line: string) => ((await json(line)) as { data: Record<string, unknown>[] }).data;
  const announced = await listed("wallet funding list --partner acme");
  expect(announced.filter(({ amount_cents }) => amount_cents === 700)).toHaveLength(1);
  expect(await listed("orders list --partner acme")).toHaveLength(1);
});

const rivals = [
  {
    what: "owners",
    who: { partner: "rivals", role: "owner" },
    list: "/portal/team",
    to: "/role",
    typed: { role: "viewer" },
  },
  { what: "admins", who: { role: "admin" }, list: "/console/users", to: "/disable", typed: { confirmed: "yes" } },
] as const;

test.each(rivals)("of two $what who take each other's access away at one moment, one stays", async (of) => {
  const { at, person, json } = nodes();
  const { what, who, list, to, typed } = of;
  if (what === "owners") await json("partners create rivals --name Rivals");
  let stays = await person(who);
  for (let round = 0; round < ROUNDS; round++) {
    const two = [stays, await person(who)] as const;
    const browsers = two.map((one, index) => browserAt(at(index + 1), tokenOf(one)));
    const forms = await Promise.all(browsers.map((browser, index) => browser.get(`${list}/${two[1 - index]?.id}`)));
    await Promise.all(browsers.map((browser, index) => browser.send(forms[index] as Seen, typed, to)));
    const seen = await Promise.all(browsers.map((browser) => browser.get(list)));
    const left = two.filter((_, index) => seen[index]?.status === 200 && seen[index]?.path === list);
    expect(left).toHaveLength(1);
    stays = left[0] ?? stays;
  }
});

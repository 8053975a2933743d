import { expect, test } from "vitest";
import { renameUser } from "../src/core/accounts/change-user.ts";
import { inviteUser } from "../src/core/accounts/invite.ts";
import { setBankDetails } from "../src/core/wallet/bank-details.ts";
import { addProducts } from "./support/catalog.ts";
import { type Person, person, startPages } from "./support/pages.ts";
import type { Platform } from "./support/platform.ts";
import { rule } from "./support/price-lists.ts";
import { csrfOf, type Seen, visitor } from "./support/visitor.ts";

async function acme(options = {}) {
  const platform = await startPages(options);
  const caller = await platform.caller({ slug: "acme", agent: true, live: true });
  await platform.fund(caller.partnerId, 100_000);
  const owner = await person(platform, { partner: "acme", role: "owner" });
  return { platform, caller, owner };
}

/** The pages that a person reaches by links, beginning at the overview; each path once. */
async function crawl(who: Pick<Person, "get">, start: string): Promise<Map<string, Seen>> {
  const found = new Map<string, Seen>();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const seen = await who.get(path);
    found.set(path, seen);
    for (const link of seen.page.querySelectorAll("a[href]")) {
      const to = new URL(link.getAttribute("href") ?? "", `http://h${path}`);
      const isPage = to.host === "h" && to.pathname.startsWith(start) && !to.searchParams.has("cursor");
      if (isPage && !found.has(to.pathname + to.search)) waiting.push(to.pathname + to.search);
    }
    if (found.size > 300) break;
  }
  return found;
}

test("a form from another origin, without its token, or with another session's is refused", async () => {
  const { platform, owner } = await acme();
  const other = await person(platform, { partner: "acme", role: "owner" });
  const form = await owner.get("/portal/wallet");
  const typed = { amount: "10.00", currency: "AUD", key: "k".repeat(20) };
  const own = { origin: platform.url };
  const attempts: [string, object, Record<string, string>][] = [
    ["another origin", csrfOf(form), { origin: "https://evil.example" }],
    ["no origin at all, from another site", csrfOf(form), { "sec-fetch-site": "cross-site" }],
    ["a hidden origin", csrfOf(form), { origin: "null" }],
    ["no token", {}, own],
    ["a made-up token", { _csrf: "x".repeat(60) }, own],
    ["another session's token", csrfOf(await other.get("/portal/wallet")), own],
    ["a visitor's token", csrfOf(await visitor(platform.url).get("/portal/sign-in")), own],
  ];
  for (const [what, csrf, headers] of attempts) {
    const { status } = await owner.post("/portal/wallet", { ...typed, ...csrf }, headers);
    expect([what, status]).toEqual([what, 403]);
  }
  expect((await owner.get("/portal/wallet")).text).not.toContain("FND-");
  expect((await owner.post("/portal/wallet", { ...typed, ...csrfOf(form) }, own)).text).toContain("FND-");
  const signIn = await visitor(platform.url).post("/portal/sign-in", { email: "a@b.example", password: "x" });
  expect(signIn.status).toBe(403);
});

test("every page has the policy, is kept nowhere, and has nothing inline", async () => {
  const { platform, owner } = await acme();
  const admin = await person(platform, { role: "admin" });
  for (const [who, start] of [
    [owner, "/portal"],
    [admin, "/console"],
    [visitor(platform.url), "/portal/sign-in"],
  ] as const) {
    const pages = await crawl(who, start);
    for (const [path, { status, headers, page, html }] of pages) {
      expect([path, status]).toEqual([path, 200]);
      if (!headers.get("content-type")?.startsWith("text/html")) continue;
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';" +
          "form-action 'self';base-uri 'none';frame-ancestors 'none'",
      );
      expect([path, headers.get("cache-control"), headers.get("referrer-policy")]).toEqual([
        path,
        "no-store",
        "same-origin",
      ]);
      expect([path, inlineIn(page, html)]).toEqual([path, []]);
    }
  }
});

/** Elements and attributes that a policy would have to allow, or that no page has. */
function inlineIn(page: Seen["page"], html: string): string[] {
  const elements = page.querySelectorAll("*");
  const named = elements.flatMap((one) => Object.keys(one.attributes).map((name) => `${one.tagName} ${name}`));
  const inline = named.filter((name) => / (on|style$)/i.test(name));
  const scripts = page.querySelectorAll("script, style, iframe, object, embed, base").map((one) => one.outerHTML);
  const own = /^<script type="module" src="\/(portal|console)\/assets\/app\.js\?[\w-]+"><\/script>$/;
  return [
    ...inline,
    ...scripts.filter((text) => !own.test(text)),
    ...(html.includes("javascript:") ? ["javascript:"] : []),
  ];
}

/** What breaks out of HTML text, attributes, URLs, scripts and spreadsheets, where it is not escaped. */
const corpus = [
  `<img src=x onerror=alert(1)>`,
  `"><script>alert(1)</script>`,
  `' autofocus onfocus='alert(1)`,
  `</textarea></title></pre><svg/onload=alert(1)>`,
  `=HYPERLINK("https://evil.example","x")`,
  `@SUM(1+1)*cmd|' /C calc'!A0`,
  `{{7*7}}\u202e\u0000`.replace("\u0000", ""),
];

async function poison(platform: Platform, owner: Person, caller: Awaited<ReturnType<Platform["caller"]>>) {
  const text = corpus.join(" ");
  const { store } = platform;
  await addProducts(store, [{ sku: "EU-1", price_cents: 100, name: text.slice(0, 150), description: text }]);
  await store.write(setBankDetails, { text, actor: "test" });
  await store.write(renameUser, { userId: owner.id, name: text.slice(0, 180), actor: "test" });
  await store.write(inviteUser, {
    email: `"x"onload=1@evil.example`.replaceAll('"', ""),
    role: "viewer",
    partnerId: caller.partnerId,
    actor: "test",
  });
  const { body } = await caller.get("/api/v1/products");
  for (const [at, one] of corpus.entries()) {
    await rule(store, "gold", { region: one, markup: "10" });
    const lines = [{ product_id: body.data[0].id, quantity: 1 }];
    const order = { line_items: lines, external_order_id: one.slice(0, 60), metadata: { note: one } };
    await caller.send("POST", "/api/v1/orders", order, { "idempotency-key": `key-${at}` });
    await caller.send("POST", "/api/v1/credentials", { description: one, environment: "production" });
    await caller.send("POST", "/api/v1/webhooks", {
      url: `https://hooks.example.com/${encodeURIComponent(one)}`,
      events: ["order.created"],
      description: one,
    });
  }
  const form = await owner.get("/portal/developers");
  await owner.send(form, { environment: "sandbox", label: text.slice(0, 80) });
}

test("no text that people, partners or imports write becomes an element, an attribute or a formula", async () => {
  const { platform, caller, owner } = await acme();
  await poison(platform, owner, caller);
  const admin = await person(platform, { role: "admin" });
  for (const [who, start] of [
    [owner, "/portal"],
    [admin, "/console"],
  ] as const) {
    const pages = await crawl(who, start);
    let shown = 0;
    for (const [path, { page, html, headers }] of pages) {
      if (headers.get("content-type")?.startsWith("text/csv")) {
        const cells = html.split(/\r?\n/).flatMap((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/));
        expect([path, cells.filter((cell) => /^"?[=@+\t\r]/.test(cell))]).toEqual([path, []]);
        continue;
      }
      expect([path, inlineIn(page, html)]).toEqual([path, []]);
      if (html.includes("onerror=alert(1)")) shown += 1;
    }
    // The texts were there to be seen.
    expect(shown).toBeGreaterThan(3);
  }
});

test("a partner's people find nothing of another partner, by whatever address", async () => {
  const { platform, caller } = await acme();
  const products = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 100 }]);
  const lines = [{ product_id: products["EU-1"], quantity: 1 }];
  const { body: order } = await caller.send(
    "POST",
    "/api/v1/orders",
    { line_items: lines },
    { "idempotency-key": "k1" },
  );
  const { body: hook } = await caller.send("POST", "/api/v1/webhooks", {
    url: "https://hooks.example.com/a",
    events: ["order.created"],
  });
  await platform.caller({ slug: "beta", agent: true, live: true });
  const rival = await person(platform, { partner: "beta", role: "owner" });
  for (const path of [
    `/portal/orders/${order.id}`,
    `/portal/developers/credentials/${caller.clientId}`,
    `/portal/developers/webhooks/${hook.webhook.id}`,
  ]) {
    const seen = await rival.get(path);
    expect([path, seen.status, seen.html.includes("hooks.example")]).toEqual([path, 404, false]);
  }
  const csrf = csrfOf(await rival.get("/portal"));
  const rotated = await rival.post(`/portal/developers/credentials/${caller.clientId}/rotate`, { ...csrf });
  expect(rotated.status).toBe(404);
});

test("a body is not read of a visitor, nor one that is large or does not say how large it is", async () => {
  const { platform, owner } = await acme();
  const large = new Blob([Buffer.alloc(17 * 1024 * 1024, 0x61)]);
  const typed = { ...csrfOf(await owner.get("/portal/passports/import")), file: large };
  expect((await owner.post("/portal/passports/import", typed)).status).toBe(413);
  expect((await visitor(platform.url).post("/portal/passports/import", { file: new Blob(["a"]) })).path).toBe(
    "/portal/sign-in",
  );
  const chunks = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode("email=a"));
      controller.close();
    },
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const asked = { method: "POST", headers, body: chunks, duplex: "half" } as const;
  expect((await fetch(`${platform.url}/portal/sign-in`, asked)).status).toBe(413);
});

test("what a form refuses shows no secret that was typed", async () => {
  const { owner } = await acme();
  const account = await owner.get("/portal/account");
  const refused = await owner.send(account, { current: "my-old-secret-words", password: "my-new-secret-words" });
  expect([refused.status, refused.html.includes("secret-words")]).toEqual([400, false]);
});

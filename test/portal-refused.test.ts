import { expect, test } from "vitest";
import { randomIds } from "../src/core/kernel/ids.ts";
import { keepRefused, type RefusedRequests } from "../src/daemon/metrics/request-records.ts";
import { person, startPages } from "./support/pages.ts";

const PAGE = "/portal/developers/refused";

async function opened() {
  let kept: RefusedRequests | undefined;
  const platform = await startPages({ metrics: { record: (request) => kept?.record(request) } });
  kept = keepRefused({ ...platform, ids: randomIds(), log: console });
  const caller = await platform.caller({ slug: "acme", production: false });
  const developer = await person(platform, { partner: "acme", role: "developer" });
  return { platform, kept, caller, developer };
}

test("what was refused in the last day is listed with its reason, and nothing of its address", async () => {
  const { platform, kept, caller, developer } = await opened();
  expect((await developer.get(PAGE)).text).toContain("No request was refused.");
  await caller.get("/api/v1/orders/7c1e?name=Mia");
  platform.clock.advance(60_000);
  await caller.send("POST", "/api/v1/webhooks", { url: "ftp://secret.example", events: [] });
  const { headers } = await caller.get("/api/v1/nothing/secret");
  await caller.get("/api/v1/orders");
  await kept.flush();
  const page = await developer.get(PAGE);
  expect(page.page.querySelectorAll("tbody tr")).toHaveLength(3);
  const [newest, , oldest] = page.page.querySelectorAll("tbody tr").map((row) => row.textContent);
  expect(newest).toContain("GET (unknown)");
  expect(newest).toContain(headers.get("x-request-id"));
  expect(oldest).toContain("GET /api/v1/orders/:id");
  expect(page.text).toContain("POST /api/v1/webhooks400validationCorrect the fields named in errors");
  expect(page.html).not.toMatch(/Mia|secret|7c1e/);
  const csv = await developer.get(`${PAGE}?format=csv`);
  expect(csv.html.split("\n")[2]).toMatch(/^2026-03-02T01:01:00.000Z,POST \/api\/v1\/webhooks,400,validation,/);
  // A day later, whether anything is refused again or not.
  platform.clock.advance(86_400_000 - 30_000);
  const later = await person(platform, { partner: "acme", role: "developer" });
  expect((await later.get(PAGE)).page.querySelectorAll("tbody tr")).toHaveLength(2);
});

test("the newest 200 are kept, and expired tokens are listed too", async () => {
  const { platform, kept, caller } = await opened();
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 80; count++) {
      platform.clock.advance(1);
      await caller.get("/api/v1/orders/none");
    }
    await kept.flush();
  }
  platform.clock.advance(12 * 3_600_000);
  await caller.get("/api/v1/orders");
  await kept.flush();
  const rows = await platform.store.read((q) => q.db.select().from(q.t.refusedRequests), null);
  expect(rows).toHaveLength(200);
  expect(rows.at(-1)).toMatchObject({ status: 401, problem: "token_expired", client_id: caller.clientId });
  const developer = await person(platform, { partner: "acme", role: "developer" });
  expect((await developer.get(PAGE)).text).toContain("GET /api/v1/orders401token_expired");
});

test("others' are not there, and an agent sees none", async () => {
  const { platform, kept, caller } = await opened();
  await caller.get("/api/v1/orders/none");
  await kept.flush();
  await platform.caller({ slug: "other" });
  const stranger = await person(platform, { partner: "other", role: "owner" });
  expect((await stranger.get(PAGE)).text).toContain("No request was refused.");
  const agent = await person(platform, { partner: "acme", role: "agent" });
  expect((await agent.get(PAGE)).status).toBe(403);
});

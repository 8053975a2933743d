import { expect, test } from "vitest";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { person, startPages } from "./support/pages.ts";
import { startReceiver } from "./support/receiver.ts";
import type { Seen } from "./support/visitor.ts";
import { withDeliveries } from "./support/webhooks.ts";

const LIST = "/portal/developers/webhooks";

async function opened() {
  const platform = await withDeliveries(await startPages());
  const caller = await platform.caller({ slug: "acme" });
  const developer = await person(platform, { partner: "acme", role: "developer" });
  await developer.send(await developer.get("/portal"), { environment: "sandbox" });
  return { platform, caller, developer };
}

/** The secret that a page shows. */
const secretOf = ({ page }: Seen) => page.querySelector("#webhook-secret")?.textContent.trim();

/** Makes an endpoint by the form; the path of its page. */
async function made({ developer }: Awaited<ReturnType<typeof opened>>, url: string) {
  const shown = await developer.send(await developer.get(LIST), { url, description: "Desk", events: "order.created" });
  expect([shown.status, secretOf(shown)]).toEqual([200, expect.stringMatching(/^whsec_[\w-]{43}$/)]);
  const path = shown.page.querySelector("main a")?.getAttribute("href") ?? "";
  return { path: path.replace(/^http:\/\/[^/]+/, ""), secret: secretOf(shown) };
}

test("a developer makes an endpoint, is shown its secret once, changes it, and deletes it", async () => {
  const all = await opened();
  const { developer, caller } = all;
  const { path, secret } = await made(all, "https://shop.example.com/hooks");
  const shown = await developer.get(path);
  expect(shown.text).toContain("https://shop.example.com/hooks");
  expect(shown.html).not.toContain(secret);
  expect(shown.text).toContain("created, by Pat developer");
  const changed = await developer.send(shown, { url: "https://shop.example.com/two", events: ["*", "order.failed"] });
  expect(changed.text).toContain("The endpoint is changed.");
  expect(changed.text).toContain("https://shop.example.com/hooks → https://shop.example.com/two");
  expect(changed.text).toMatch(/Events(order.failed, all kinds|all kinds, order.failed)/);
  const { body } = await caller.get(`/api/v1/webhooks/${path.split("/").at(-1)}`);
  expect(body).toMatchObject({ url: "https://shop.example.com/two", description: "Desk" });
  expect(new Set(body.events)).toEqual(new Set(["*", "order.failed"]));

  const rotated = await developer.send(changed, { overlap_hours: "24" });
  expect([rotated.text, secretOf(rotated)]).toEqual([
    expect.stringContaining("X-Webhook-Signature-Next"),
    expect.not.stringMatching(`^${secret}$`),
  ]);
  const twice = await developer.send(changed, { overlap_hours: "24" });
  expect([twice.status, twice.text]).toEqual([409, expect.stringContaining("The overlap of the last rotation runs")]);
  expect((await developer.send(changed, { overlap_hours: "169" })).status).toBe(400);

  const csv = await developer.get(`${LIST}?format=csv`);
  expect(csv.html.split("\n")[1]).toMatch(/^https:\/\/shop\.example\.com\/two,Desk,active,nothing sent yet,0,/);

  const asked = await developer.get(`${path}/delete`);
  expect(asked.text).toContain("0 deliveries that wait for it");
  expect((await developer.post(`${path}/delete`, {})).status).toBe(403);
  const gone = await developer.send(asked, {}, `${path}/delete`);
  expect([gone.path, gone.text]).toEqual([LIST, expect.stringContaining("The endpoint is deleted.")]);
  expect((await developer.get(path)).status).toBe(404);
});

test("what is wrong with an endpoint is said by its form, which keeps what was typed", async () => {
  const { developer } = await opened();
  const none = await developer.send(await developer.get(LIST), { url: "https://shop.example.com/hooks" });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("Events must have at least one kind.")]);
  expect(none.page.querySelector("#f-url")?.getAttribute("value")).toBe("https://shop.example.com/hooks");
  const inside = await developer.send(none, { url: "ftp://shop.example.com", events: "order.created" });
  expect([inside.status, inside.text]).toEqual([400, expect.stringContaining("must be an absolute http(s) address")]);
  const long = await developer.send(none, { url: "https://a.example", events: "*", description: "x".repeat(501) });
  expect(long.text).toContain("Description must be at most 500 characters.");
});

test("a test, a failing receiver, its attempts, a redelivery, and a replay of what failed", async () => {
  const all = await opened();
  const { developer, platform } = all;
  const receiver = await startReceiver(500);
  const { path } = await made(all, receiver.url);
  const sent = await developer.send(await developer.get(path), { event: "order.created" }, `${path}/test`);
  expect(sent.text).toContain("A sample of order.created is on its way.");
  await platform.deliver();
  const tried = await developer.get(sent.path);
  expect(tried.text).toMatch(/Status ?pending/);
  expect(tried.text).toMatch(/: 500, \d+ ms ?no/);
  expect((await developer.get(path)).text).toContain("1 attempt in a row failed, since 2 Mar 2026");

  for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000]) {
    platform.clock.advance(wait);
    await platform.deliver();
  }
  const given = await developer.get(sent.path);
  expect(given.text).toMatch(/Status ?exhausted/);
  // Six within a minute differ by their seconds.
  const moments = given.page.querySelectorAll("main h3 time").map((time) => time.textContent);
  expect([moments.length, new Set(moments).size, moments[0]]).toEqual([6, 6, "2 Mar 2026, 01:00:00"]);

  receiver.answers(200);
  const typed = (await developer.get(path)).page.querySelector("input[name=since]")?.getAttribute("value");
  expect(typed).toBe("2026-03-01T01:00");
  const since = { since: "2026-03-02T00:00" };
  const early = await developer.send(await developer.get(path), { since: "2026-03-09T00:00" }, `${path}/replay`);
  expect(early.text).toContain("Nothing failed since 9 Mar 2026");
  const asked = await developer.send(await developer.get(path), since, `${path}/replay`);
  expect(asked.text).toContain("1 delivery since 2 Mar 2026, 00:00");
  const replayed = await developer.send(asked, {}, `${path}/replay`);
  expect(replayed.text).toContain("1 delivery is on the way again.");
  await platform.deliver();
  const arrived = await developer.get(sent.path);
  expect(arrived.text).toMatch(/Status ?delivered/);
  expect(arrived.text).toMatch(/: 200, \d+ ms ?ok/);

  const again = await developer.send(arrived, {}, "/redeliver");
  expect(again.text).toContain("The delivery is on its way again.");
  await platform.deliver();
  expect(receiver.received.at(-1)?.json.event_id).toBe(receiver.received[0]?.json.event_id);
  const listed = await developer.get(`${path}/deliveries?status=delivered&from=2026-03-02&to=2026-03-02&format=csv`);
  expect(listed.html.split("\n")[1]).toMatch(/^order\.created,delivered,1,200,/);
  expect((await developer.get(`${path}/deliveries?status=exhausted`)).text).toContain("No delivery fits.");
  const wrong = await developer.send(await developer.get(path), { since: "yesterday" }, `${path}/replay`);
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("must be a date and a time")]);
});

test("a disabled endpoint takes no test and no replay until it is enabled", async () => {
  const all = await opened();
  const { developer } = all;
  const { path } = await made(all, "https://shop.example.com/hooks");
  const active = await developer.get(path);
  const disabled = await developer.send(active, {}, `${path}/status`);
  expect(disabled.text).toContain("The endpoint is disabled: events are kept.");
  const refused = await developer.send(active, { event: "order.created" }, `${path}/test`);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("nothing is sent to it until")]);
  expect((await developer.send(active, { since: "2026-03-02T00:00" }, `${path}/replay`)).status).toBe(409);
  expect((await developer.get(LIST)).text).toContain("stopped: nothing is sent");
  expect((await developer.send(disabled, {}, `${path}/status`)).text).toContain("The endpoint is enabled.");
});

test("another partner's endpoint is not there, nor one of the other environment; an agent sees none", async () => {
  const all = await opened();
  const { platform, developer } = all;
  const { path } = await made(all, "https://shop.example.com/hooks");
  await platform.caller({ slug: "other" });
  const stranger = await person(platform, { partner: "other", role: "owner" });
  const theirs = await stranger.send(await stranger.get(LIST), { url: "https://a.example", events: "*" });
  expect(theirs.status).toBe(200);
  const own = await stranger.get(theirs.page.querySelector("main a")?.getAttribute("href") ?? "");
  const csrf = own.page.querySelector("[name=_csrf]")?.getAttribute("value") ?? "";
  const origin = { origin: platform.url };
  for (const rest of ["", "/delete", "/deliveries", "/deliveries/none", "/replay"]) {
    expect((await stranger.get(path + rest)).status, rest).toBe(404);
  }
  const typed = { _csrf: csrf, url: "https://a.example", events: "*", status: "disabled", event: "order.created" };
  const more = { overlap_hours: "0", since: "2026-03-02T00:00", confirmed: "yes" };
  for (const rest of ["", "/status", "/test", "/rotate", "/delete", "/replay", "/deliveries/none/redeliver"]) {
    expect((await stranger.post(path + rest, { ...typed, ...more }, origin)).status, rest).toBe(404);
  }
  const live = await platform.credential("acme", { live: true });
  const input = { url: "https://a.example", events: ["*" as const], actor: "test" };
  const owner = { partnerId: live.partnerId, environment: "production" as const };
  const { webhook } = await platform.store.write(createWebhook, { ...input, owner });
  expect((await developer.get(`${LIST}/${webhook.id}`)).status).toBe(404);
  for (const role of ["agent", "viewer"] as const) {
    const one = await person(platform, { partner: "acme", role });
    for (const at of [LIST, path, `${path}/deliveries`]) expect((await one.get(at)).status, `${role} ${at}`).toBe(403);
  }
});

import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import type { WebhookId } from "../src/core/kernel/brand.ts";
import { clearEvent } from "../src/core/webhooks/clear-events.ts";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { type Person, person, startPages } from "./support/pages.ts";
import { startReceiver } from "./support/receiver.ts";
import { csrfOf, type Seen } from "./support/visitor.ts";
import { type WebhookPlatform, withDeliveries } from "./support/webhooks.ts";

const LIST = "/console/deliveries";
const FAILED = `${LIST}?status=failed`;

/** Makes every attempt of what is on its way. */
async function giveUp(platform: WebhookPlatform) {
  for (const wait of [0, 1_000, 2_000, 4_000, 8_000, 16_000]) {
    platform.clock.advance(wait);
    await platform.deliver();
  }
}

/** A partner with an endpoint that answers from now on, and to which so many deliveries are exhausted. */
async function exhausted(platform: WebhookPlatform, slug: string, count = 1) {
  const caller = await platform.caller({ slug });
  const receiver = await startReceiver(500);
  const { id } = await platform.endpoint(caller, receiver.url);
  const events: string[] = [];
  for (let no = 0; no < count; no++) events.push(await platform.trigger(caller));
  await giveUp(platform);
  receiver.answers(200);
  return { caller, receiver, id, events };
}

/** Pages, two partners whose deliveries failed, and support. */
async function failing() {
  const platform = await withDeliveries(await startPages());
  const acme = await exhausted(platform, "acme", 2);
  const beta = await exhausted(platform, "beta");
  return { platform, acme, beta, support: await person(platform, { role: "support" }) };
}

const rowsOf = ({ page }: Seen) => page.querySelectorAll("tbody tr").map((row) => row.textContent.trim());
const linkIn = ({ page }: Seen, at = 0) => page.querySelectorAll("tbody a")[at]?.getAttribute("href") ?? "";

/** Asks to send again what failed of a list; what comes of it. */
const asked = async (who: Person, list: string) => who.send(await who.get(list), {}, `${LIST}/redeliver`);

test("what failed is found from Today and the partner's page, narrowed, and goes into CSV", async () => {
  const { platform, acme, beta, support } = await failing();
  await platform.store.write(disableWebhook, { id: beta.id, actor: "test" });
  await platform.trigger(beta.caller);
  const today = await support.get("/console");
  const toList = `${LIST}?status=failed&endpoint=${acme.id}`;
  expect(today.page.querySelector(`section[aria-label="Endpoints that fail"] a[href="${toList}"]`)).not.toBeNull();
  expect(today.page.querySelector(`section[aria-label="Waiting for you"] a[href="${FAILED}"]`)).not.toBeNull();
  const partner = await support.get("/console/partners/acme");
  expect(partner.page.querySelector(`a[href="${LIST}?partner=acme"]`)).not.toBeNull();
  expect(rowsOf(await support.get(FAILED))).toHaveLength(4);
  const own = await support.get(toList);
  expect(rowsOf(own)).toHaveLength(2);
  expect(own.text).toContain(`order.createdacme (sandbox)${acme.receiver.url}exhausted6500`);
  expect(rowsOf(await support.get(`${FAILED}&partner=beta&endpoint=${acme.id}`))).toEqual([]);
  expect(rowsOf(await support.get(`${FAILED}&partner=acme&endpoint=${acme.id}`))).toHaveLength(2);
  expect((await support.get(`${FAILED}&until=2026-03-01`)).text).toContain("No delivery fits.");
  const { html } = await support.get(`${FAILED}&partner=beta&format=csv`);
  expect(html.split("\n")[1]).toMatch(/^order\.created,beta \(sandbox\),http:.*,held,0,,/);
});

test("one delivery is sent again, whatever became of it, after its consequence was shown", async () => {
  const { platform, acme, support } = await failing();
  const list = await support.get(`${FAILED}&partner=acme`);
  const page = await support.get(linkIn(list));
  expect(page.text).toMatch(/Status ?exhausted/);
  expect(rowsOf(page)).toHaveLength(6);
  expect(new Set(page.page.querySelectorAll("td time").map((time) => time.textContent)).size).toBe(6);
  const foreseen = await support.get(`${page.path}/redeliver`);
  expect(foreseen.text).toContain(
    `It is sent to ${acme.receiver.url} of acme (sandbox) at once, with all its attempts`,
  );
  expect(foreseen.text).toContain("Status: exhausted → pending.");
  expect((await support.get(page.path)).text).toMatch(/Status ?exhausted/);
  const sent = await support.send(foreseen, {}, "/redeliver");
  expect([sent.path, sent.text]).toEqual([page.path, expect.stringContaining("1 delivery is on the way again.")]);
  // Sent twice, it goes once.
  await support.send(foreseen, {}, "/redeliver");
  const before = acme.receiver.received.length;
  await platform.deliver();
  expect(acme.receiver.received.length - before).toBe(1);
  expect((await support.get(page.path)).text).toMatch(/Status ?delivered/);
  expect((await support.get(`${page.path}/redeliver`)).text).toContain(
    "It arrived before: the endpoint gets it twice.",
  );
  const [line] = await platform.store.read(listAudit, { target: acme.id, limit: 1 });
  expect(line).toMatchObject({ action: "webhooks.redeliver", actor: `user:${support.id}` });
});

test("all that failed of what is listed goes again, and what is stopped does not", async () => {
  const { platform, acme, beta, support } = await failing();
  await platform.store.write(disableWebhook, { id: beta.id, actor: "test" });
  const foreseen = await asked(support, FAILED);
  expect(rowsOf(foreseen)).toEqual([
    `acme (sandbox)${acme.receiver.url}2sent again`,
    `beta (sandbox)${beta.receiver.url}1nothing: it is disabled`,
  ]);
  expect(rowsOf(await support.get(FAILED))).toHaveLength(3);
  const done = await support.send(foreseen, {}, "/redeliver");
  expect([done.path, done.text]).toEqual([FAILED, expect.stringContaining("2 deliveries are on the way again.")]);
  await platform.deliver();
  const got = acme.receiver.received.slice(-2).map(({ json }) => json.event_id);
  expect(got).toEqual(acme.events);
  expect(await platform.deliveries({ failed: true })).toHaveLength(1);
  // The same form again, and a list of stopped endpoints alone.
  for (const again of [await support.send(foreseen, {}, "/redeliver"), await asked(support, FAILED)]) {
    expect(again.text).toContain("its endpoints are stopped");
  }
  expect((await asked(support, `${FAILED}&partner=acme`)).text).toContain("Nothing that failed fits");
});

test("a list that is narrowed sends no more than it shows, and what was cleared stays", async () => {
  const { platform, acme, beta, support } = await failing();
  const [first = ""] = acme.events;
  await platform.store.write((tx) => clearEvent(tx, first), null);
  const byEndpoint = await asked(support, `${FAILED}&endpoint=${acme.id}`);
  expect(rowsOf(byEndpoint)).toEqual([`acme (sandbox)${acme.receiver.url}1sent again`]);
  // The endpoint of one and the partner of another; a day before, and one after.
  for (const narrow of [`partner=beta&endpoint=${acme.id}`, "until=2026-03-01", "since=2026-03-09"]) {
    expect((await asked(support, `${FAILED}&${narrow}`)).text).toContain("Nothing that failed fits");
  }
  const byPartner = await asked(support, `${FAILED}&partner=beta&since=2026-03-01&until=2026-03-03`);
  const done = await support.send(byPartner, {}, "/redeliver");
  expect(done.path).toBe(`${LIST}?partner=beta&since=2026-03-01&until=2026-03-03&status=failed`);
  expect((await platform.deliveries({ failed: true })).map(({ endpoint_id }) => endpoint_id)).toEqual([
    acme.id,
    acme.id,
  ]);
  expect((await platform.deliveries({ endpointId: beta.id })).map(({ status }) => status)).toEqual(["pending"]);
  const cleared = (await platform.deliveries({ failed: true })).find(({ event_id }) => event_id === first);
  const page = await support.get(`${LIST}/${cleared?.id}`);
  expect([page.text.includes("cannot be sent"), page.text.includes("Send it again")]).toEqual([true, false]);
  expect((await support.get(`${page.path}/redeliver`)).status).toBe(409);
});

test("what failed on a later day than the list shows stays as it is", async () => {
  const { platform, acme } = await failing();
  platform.clock.advance(5 * 86_400_000);
  acme.receiver.answers(500);
  const later = await platform.trigger(acme.caller);
  await giveUp(platform);
  const admin = await person(platform, { role: "admin" });
  const done = await admin.send(await asked(admin, `${FAILED}&partner=acme&until=2026-03-03`), {}, "/redeliver");
  expect(done.text).toContain("2 deliveries are on the way again.");
  const failed = await platform.deliveries({ failed: true, endpointId: acme.id });
  expect(failed.map(({ event_id }) => event_id)).toEqual([later]);
});

test("an endpoint is disabled and enabled from the partner's page, once what comes of it was shown", async () => {
  const { platform, acme, beta, support } = await failing();
  const list = await support.get("/console/partners/acme/endpoints");
  expect(rowsOf(list)).toEqual([expect.stringContaining(`${acme.receiver.url}sandbox`)]);
  expect(list.text).toContain("failing: 12 attempts in a row");
  const at = `/console/partners/acme/endpoints/${acme.id}`;
  expect(linkIn(list)).toBe(at);
  expect((await support.get(linkIn(await support.get(`${FAILED}&partner=acme`)))).html).toContain(`href="${at}"`);
  const foreseen = await support.get(`${at}/disable`);
  expect(foreseen.text).toContain(`${acme.receiver.url} of acme (sandbox)`);
  expect(foreseen.text).toContain("Nothing is sent to it any more; its events are kept as held for 90 days.");
  expect(foreseen.text).toContain("Status: active → disabled.");
  expect((await support.get(at)).text).toMatch(/Status ?active/);
  const done = await support.send(foreseen, {}, "/disable");
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("The endpoint is disabled: events are kept.")]);
  await platform.trigger(acme.caller);
  await platform.deliver();
  expect((await platform.deliveries({ endpointId: acme.id }))[0]?.status).toBe("held");

  const enabling = await support.get(`${at}/enable`);
  expect(enabling.text).toContain("What was held stays held until it is sent again.");
  const enabled = await support.send(enabling, {}, "/enable");
  expect(enabled.text).toContain("What was held is not sent by itself: send it again in its deliveries.");
  expect(enabled.text).toMatch(/Failed in a row ?none/);
  const trail = await platform.store.read(listAudit, { target: acme.id, limit: 2 });
  expect(trail.map(({ action, actor }) => [action, actor])).toEqual([
    ["webhooks.enable", `user:${support.id}`],
    ["webhooks.disable", `user:${support.id}`],
  ]);

  // Under another partner, and for roles that only read.
  expect((await support.get(`/console/partners/acme/endpoints/${beta.id}/disable`)).status).toBe(404);
  const viewer = await person(platform, { role: "viewer" });
  const page = await viewer.get(at);
  expect([page.status, page.html.includes(`${at}/disable`)]).toEqual([200, false]);
  const typed = { ...csrfOf(page), confirmed: "yes" };
  expect((await viewer.post(`${at}/disable`, typed, { origin: platform.url })).status).toBe(403);
  expect((await support.get(at)).text).toMatch(/Status ?active/);
});

test("roles that only read send nothing, and what is not there is not found", async () => {
  const { platform, acme, support } = await failing();
  const page = linkIn(await support.get(FAILED));
  for (const role of ["viewer", "finance"] as const) {
    const one = await person(platform, { role });
    const list = await one.get(FAILED);
    expect([list.status, list.text.includes("Send again"), (await one.get(page)).text.includes("Send it")]).toEqual([
      200,
      false,
      false,
    ]);
    expect((await one.get(`${page}/redeliver`)).status).toBe(403);
    const typed = { ...csrfOf(list), confirmed: "yes" };
    for (const at of [`${page}/redeliver`, `${LIST}/redeliver`]) {
      expect((await one.post(at, typed, { origin: platform.url })).status, `${role} ${at}`).toBe(403);
    }
  }
  expect((await support.get(`${LIST}/none`)).status).toBe(404);
  expect((await support.get(`${LIST}?endpoint=none`)).status).toBe(404);
  expect((await support.get(`${LIST}?partner=none`)).status).toBe(404);
  expect(await platform.deliveries({ failed: true, endpointId: acme.id as WebhookId })).toHaveLength(2);
});

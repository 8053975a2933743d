import { join } from "node:path";
import { expect, test } from "vitest";
import type { Owner } from "../src/core/kernel/owner.ts";
import { onDatabase } from "./support/database.ts";
import { recordCancellations } from "./support/feed.ts";
import { newData } from "./support/installation.ts";
import { type Caller, startPlatform } from "./support/platform.ts";
import { onPostgres, temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

/** A platform with the feed of one partner. */
async function feed() {
  const platform = await startPlatform();
  const caller: Caller = await platform.caller();
  const owner: Owner = { partnerId: caller.partnerId, environment: "sandbox" };
  return {
    /** Records events, each in a transaction of its own. */
    async record(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let at = 0; at < count; at++) {
        const one = { owner, subjectId: crypto.randomUUID(), reasons: ["sold out"], fails: false };
        ids.push(...(await platform.store.write(recordCancellations, one)));
      }
      return ids;
    },
    /** Writes the first events of the feed, more than one request looks through. */
    fill: (count: number) =>
      onDatabase(
        platform.location,
        `WITH RECURSIVE listed(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM listed WHERE n < ${count})
           INSERT INTO events (id, kind, partner_id, environment, subject_id, occurred_at, data, feed_no)
           SELECT 'event-' || n, 'order.cancelled', '${owner.partnerId}', 'sandbox', 'order', 0, '{"id":1}', n
             FROM listed;
         INSERT INTO event_feeds (partner_id, environment, last_no)
           VALUES ('${owner.partnerId}', 'sandbox', ${count})`,
      ),
    /** The database as a backup from when the feed had `count` events brings it back. */
    restore: (count: number) =>
      onDatabase(
        platform.location,
        `DELETE FROM events WHERE feed_no > ${count}; UPDATE event_feeds SET last_no = ${count}`,
      ),
    async page(query: string) {
      const { status, body } = await caller.get(`/api/v1/events?${query}`);
      const next = String(body.pagination?.next_cursor);
      const ids: string[] = (body.data ?? []).map((event: { event_id: string }) => event.event_id);
      const more = body.pagination?.has_more;
      return { status, ids, next, more, slug: body.type?.split("/").at(-1), detail: body.detail };
    },
  };
}

/** A cursor as versions gave it that did not yet name the event before it. */
function withoutEvent(cursor: string): string {
  const [mark, no] = JSON.parse(Buffer.from(cursor, "base64url").toString());
  return Buffer.from(JSON.stringify([mark, no, ""])).toString("base64url");
}

const EXPIRED = { status: 410, slug: "cursor_expired", detail: expect.stringMatching(/restored.*Begin again.*since/) };

test("after a restore a cursor from beyond it is refused, also once the feed has overtaken it", async () => {
  const { record, restore, page } = await feed();
  await record(2);
  const inside = (await page("limit=2")).next;
  const lost = await record(2);
  const beyond = await page(`after=${inside}`);
  const amid = await page(`after=${inside}&limit=1`);
  const others = await page("after=now&kind=order.created");
  expect([beyond.ids, amid.ids]).toEqual([lost, lost.slice(0, 1)]);

  await restore(2);
  for (const { next } of [beyond, amid]) expect(await page(`after=${next}`)).toMatchObject(EXPIRED);
  const later = await record(3);
  for (const { next } of [beyond, amid]) {
    expect(await page(`after=${next}`)).toMatchObject(EXPIRED);
    expect(await page(`after=${next}&wait=5`)).toMatchObject(EXPIRED);
  }
  // An event of another kind is named too.
  expect(await page(`after=${others.next}&kind=order.created`)).toMatchObject(EXPIRED);
  // Up to the restored state nothing was lost.
  const read = await page(`after=${inside}`);
  expect(read).toMatchObject({ status: 200, ids: later });
  expect(await page(`after=${read.next}`)).toMatchObject({ status: 200, ids: [] });
});

test("so is the cursor of a page that ended amid events of other kinds", async () => {
  const { record, fill, restore, page } = await feed();
  await fill(5_001);
  const { ids, next, more } = await page("kind=order.created");
  expect([ids, more]).toEqual([[], true]);
  await restore(4_999);
  await record(2);
  expect(await page(`after=${next}&kind=order.created`)).toMatchObject(EXPIRED);
});

test("a cursor of an earlier version goes on, and the next one names its event", async () => {
  const { record, restore, page } = await feed();
  await record(2);
  const old = withoutEvent((await page("")).next);
  const [third] = await record(1);
  const read = await page(`after=${old}`);
  expect(read).toMatchObject({ status: 200, ids: [third] });
  const unchanged = await page(`after=${withoutEvent(read.next)}`);
  await restore(2);
  expect(await page(`after=${withoutEvent(read.next)}`)).toMatchObject(EXPIRED);
  const later = await record(2);
  for (const { next } of [read, unchanged]) expect(await page(`after=${next}`)).toMatchObject(EXPIRED);
  // What nothing shows, its number alone decides.
  expect(await page(`after=${withoutEvent(read.next)}`)).toMatchObject({ status: 200, ids: later.slice(1) });
});

test.runIf(!onPostgres)("the terminal reports it after its own restore", async () => {
  const data = await newData();
  const at = (line: string) => [...line.split(" "), "--data", data];
  const acting = "--partner acme --sandbox";
  const trigger = () => esimctlJson(at(`webhooks trigger order.created ${acting}`));
  await esimctlJson(at("partners create acme --name Acme"));
  await esimctlJson(at(`webhooks create https://shop.example.com/hooks --events order.created ${acting}`));
  await trigger();
  const backup = join(temporaryDirectory(), "one.backup");
  await esimctlJson(["backup", backup, "--data", data]);
  await trigger();
  const cursor = Object(await esimctlJson(at(`events list ${acting}`))).pagination.next_cursor;
  await esimctlJson(["restore", backup, "--data", data, "--force", "--yes"]);
  for (let count = 0; count < 2; count++) await trigger();
  const refused = await esimctl(at(`events list --after ${cursor} ${acting}`));
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/restored.*Begin again with/s) });
});

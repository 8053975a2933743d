import { and, eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { elementsOf, isListed, locking, updateRows } from "../store/rows.ts";
import { remember, writeLastTogether } from "../store/run-memory.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** A feed: of a partner in an environment. */
export type Feed = { partner_id: PartnerId; environment: Environment };

const raise = statement((db, t, slot: Slots<Feed & { by: number }>) =>
  db
    .insert(t.eventFeeds)
    .values({ partner_id: slot.partner_id, environment: slot.environment, last_no: slot.by, dropped_no: 0 })
    .onConflictDoUpdate({
      target: [t.eventFeeds.partner_id, t.eventFeeds.environment],
      set: { last_no: sql`${t.eventFeeds.last_no} + excluded.last_no` },
    })
    .returning({ no: t.eventFeeds.last_no }),
);

const lastNumbers = statement((db, t, slot: Slots<Pick<Feed, "environment"> & { partners: string }>) => {
  const { partner_id, environment, last_no } = t.eventFeeds;
  const query = db
    .select({ partner_id, environment, last_no })
    .from(t.eventFeeds)
    .where(and(isListed(t, partner_id, slot.partners), eq(environment, slot.environment)));
  return locking(t, query.orderBy(partner_id), {});
});

/**
 * Looks up the last numbers of feeds for the commands of a run, and keeps their rows as below. `partners` is a list as
 * `listOf` makes it. The first event of all opens its feed later.
 */
export async function lookAtFeeds(tx: Tx, feeds: Pick<Feed, "environment"> & { partners: string }): Promise<void> {
  for (const { last_no, ...feed } of await lastNumbers(tx, feeds)) remember(tx, feedName(feed), last_no);
}

function feedName({ partner_id, environment }: Feed): string {
  return `feed ${partner_id} ${environment}`;
}

/**
 * The last of the next `by` numbers of a feed. The feed's row stays locked until the transaction is visible to readers
 * or rolled back, so that numbers become visible in their order and without gaps (docs/decisions/0044).
 */
export async function lastOfNextNumbers(tx: Tx, feed: Feed, by: number): Promise<number> {
  const key = feedName(feed);
  const known = tx.memory?.found.get(key);
  if (typeof known !== "number") {
    const no = await raised(tx, feed, by);
    remember(tx, key, no);
    return no;
  }
  const no = known + by;
  remember(tx, key, no);
  const { partner_id, environment } = feed;
  const write = (feeds: readonly Partial<Row<"eventFeeds">>[]) => updateRows(tx, "eventFeeds", feeds);
  await writeLastTogether(tx, { partner_id, environment, last_no: no }, { kind: "feeds", key, write });
  return no;
}

async function raised(tx: Tx, feed: Feed, by: number): Promise<number> {
  const [row] = await raise(tx, { ...feed, by });
  if (row === undefined) throw new Error("the row of the event feed was not returned");
  return row.no;
}

const raiseAll = statement((db, t, slot: Slots<{ feeds: string; by: number }>) => {
  const { partner_id, environment, last_no } = t.eventFeeds;
  // Every column of the table, in its order. Without "where" SQLite takes "on conflict" for the condition of a join.
  const rows = sql`select listed.value ->> 0, listed.value ->> 1, cast(${slot.by} as bigint), 0, cast(null as bigint)
    from ${elementsOf(t, slot.feeds)} where true`;
  return db
    .insert(t.eventFeeds)
    .select(rows as never)
    .onConflictDoUpdate({ target: [partner_id, environment], set: { last_no: sql`${last_no} + excluded.last_no` } })
    .returning({ partner_id, environment, last_no });
});

/** The next `by` numbers of many feeds by one statement: the last of each. Feeds are in their key's order. */
export async function nextFeedNumbers(
  tx: Tx,
  feeds: readonly Feed[],
  by: number,
): Promise<(Feed & { last: number })[]> {
  const listed = feeds.map(({ partner_id, environment }) => [partner_id, environment]);
  const raised = await raiseAll(tx, { feeds: JSON.stringify(listed), by });
  if (raised.length !== feeds.length) throw new Error("a row of an event feed was not returned");
  return raised.map(({ last_no: last, ...feed }) => ({ ...feed, last }));
}

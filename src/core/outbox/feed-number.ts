import { and, eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { loader, putOff } from "../store/batch-context.ts";
import { updateRows } from "../store/rows.ts";
import { isListed, listOf, type Slots, statement, textAt } from "../store/statement.ts";
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

const lastNumbers = statement((db, t, slot: Slots<Pick<Feed, "environment"> & { partners: string }>, dialect) => {
  const { partner_id, environment, last_no } = t.eventFeeds;
  const query = db
    .select({ partner_id, environment, last_no })
    .from(t.eventFeeds)
    .where(and(isListed(dialect, partner_id, slot.partners), eq(environment, slot.environment)));
  return dialect.lock(query.orderBy(partner_id), {});
});

function numbersIn(environment: Environment) {
  return loader<PartnerId, number | null>({
    async loadMany(q, ids) {
      const rows = await lastNumbers(q, { environment, partners: listOf(ids) });
      const found = new Map(rows.map(({ partner_id, last_no }) => [partner_id, last_no]));
      return ids.map((id) => found.get(id) ?? null);
    },
    // Outside of a batch the number is raised and read by one statement.
    loadOne: async () => null,
  });
}

/** The last numbers of feeds by partner, whose rows a batch keeps as below; null: its first event opens the feed. */
export const feedNumbers = { production: numbersIn("production"), sandbox: numbersIn("sandbox") };

/**
 * The last of the next `by` numbers of a feed. The feed's row stays locked until the transaction is visible to readers
 * or rolled back, so that numbers become visible in their order and without gaps (docs/decisions/0044).
 */
export async function lastOfNextNumbers(tx: Tx, feed: Feed, by: number): Promise<number> {
  const { partner_id, environment } = feed;
  const known = await feedNumbers[environment].get(tx, partner_id);
  const last_no = known === null ? await raised(tx, feed, by) : known + by;
  feedNumbers[environment].set(tx, partner_id, last_no);
  if (known !== null)
    await putOff(tx, { kind: "feeds", row: { ...feed, last_no }, write: (rows) => writeLast(tx, rows) });
  return last_no;
}

function writeLast(tx: Tx, rows: readonly (Feed & { last_no: number })[]): Promise<void> {
  const last = new Map(
    rows.map(({ partner_id, environment, last_no }) => {
      return [`${partner_id} ${environment}`, { partner_id, environment, last_no }];
    }),
  );
  return updateRows(tx, "eventFeeds", [...last.values()]);
}

async function raised(tx: Tx, feed: Feed, by: number): Promise<number> {
  const [row] = await raise(tx, { ...feed, by });
  if (row === undefined) throw new Error("the row of the event feed was not returned");
  return row.no;
}

const raiseAll = statement((db, t, slot: Slots<{ feeds: string; by: number }>, dialect) => {
  const { partner_id, environment, last_no } = t.eventFeeds;
  // Every column of the table, in its order. Without "where" SQLite takes "on conflict" for the condition of a join.
  const rows = sql`select ${textAt(0)}, ${textAt(1)}, cast(${slot.by} as bigint), 0, cast(null as bigint)
    from ${dialect.listed(slot.feeds)} where true`;
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

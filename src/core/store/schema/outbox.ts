import type { EventKind, Expansion } from "../../events/catalog.ts";
import type { PartnerId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import type { Kit } from "./kit.ts";

/** The outbox: what happened, written in the transaction of its cause. */
export function outboxTables(k: Kit) {
  const events = k.table(
    "events",
    {
      /** The envelope's event_id. */
      id: k.text("id").primaryKey(),
      kind: k.text("kind").$type<EventKind>().notNull(),
      partner_id: k.text("partner_id").$type<PartnerId>().notNull(),
      environment: k.text("environment").$type<Environment>().notNull(),
      /** What it is about: the id of an order, eSIM, activation, product or passport; of a wallet its partner's. */
      subject_id: k.text("subject_id").notNull(),
      occurred_at: k.int("occurred_at").notNull(),
      /** Its payload; empty where that is sealed or was cleared. */
      data: k.json<Record<string, unknown>>("data").notNull(),
      /** The payload of a kind that names people, sealed by the vault. */
      sealed: k.text("sealed"),
      /** What joins `data` when it is sent. */
      expands: k.text("expands").$type<Expansion>(),
      /** Its place in its partner's feed, in the order of commits. Null: a sample for one endpoint, in no feed. */
      feed_no: k.int("feed_no"),
    },
    (t) => [
      k.index("events_subject").on(t.subject_id, t.id),
      k.uniqueIndex("events_feed").on(t.partner_id, t.environment, t.feed_no),
    ],
  );

  /** The feed of a partner in an environment: its row is locked from the number of an event to its commit. */
  const eventFeeds = k.table(
    "event_feeds",
    {
      partner_id: k.text("partner_id").$type<PartnerId>().notNull(),
      environment: k.text("environment").$type<Environment>().notNull(),
      /** The number of its last event. */
      last_no: k.int("last_no").notNull(),
      /** The highest number that retention has dropped; 0: none yet. */
      dropped_no: k.int("dropped_no").notNull().default(0),
      /** When it was read for the first time; null: never. Events about products begin with it. */
      read_at: k.int("read_at"),
    },
    (t) => [k.primaryKey({ columns: [t.partner_id, t.environment] })],
  );

  return { events, eventFeeds };
}

import { sql } from "drizzle-orm";
import type { AlertId, AlertTargetId } from "../../kernel/brand.ts";
import { type Kit, leaseColumns } from "./kit.ts";
import type { AlertChannel, AlertKind, AlertState } from "./values.ts";

/** What the operator is alerted of: where to, what is wrong now, and each notice on its way. */
export function alertsTables(k: Kit) {
  const alertTargets = k.table(
    "alert_targets",
    {
      id: k.text("id").$type<AlertTargetId>().primaryKey(),
      channel: k.text("channel").$type<AlertChannel>().notNull(),
      /** The e-mail address, or the URL, which may contain a token: sealed, and its blind index. */
      address_sealed: k.text("address_sealed").notNull(),
      address_key: k.text("address_key").notNull().unique("alert_targets_address"),
      /** What signs the notices to a URL. */
      secret_sealed: k.text("secret_sealed"),
      /** Null: all kinds, those of later versions too. */
      kinds: k.json<AlertKind[]>("kinds"),
      /** When its queue is looked at next, or the lease of who sends from it ends; null: nothing waits. */
      due_at: k.int("due_at"),
      ...leaseColumns(k),
      /** Attempts that failed since the last one that arrived. */
      failed_attempts: k.int("failed_attempts").notNull(),
      /** The last notice that arrived, the last attempt, and why that one failed. */
      last_sent_at: k.int("last_sent_at"),
      last_at: k.int("last_at"),
      last_error: k.text("last_error"),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [k.index("alert_targets_due").on(t.due_at, t.id)],
  );

  /** Each occurrence of what is wrong, and its end. */
  const alerts = k.table(
    "alerts",
    {
      id: k.text("id").$type<AlertId>().primaryKey(),
      kind: k.text("kind").$type<AlertKind>().notNull(),
      /** A SKU, a partner with a currency, an order, an endpoint, a supplier, a carrier, a job or a node. */
      subject: k.text("subject").notNull(),
      detail: k.text("detail").notNull(),
      raised_at: k.int("raised_at").notNull(),
      /** Null: it is not over. */
      over_at: k.int("over_at"),
    },
    (t) => [
      k.uniqueIndex("alerts_raised").on(t.kind, t.subject).where(sql`over_at is null`),
      k.index("alerts_over").on(t.over_at, t.id).where(sql`over_at is not null`),
    ],
  );

  const alertNotices = k.table(
    "alert_notices",
    {
      id: k.text("id").primaryKey(),
      target_id: k
        .text("target_id")
        .$type<AlertTargetId>()
        .notNull()
        .references(() => alertTargets.id),
      /** Null: a test. */
      alert_id: k
        .text("alert_id")
        .$type<AlertId>()
        .references(() => alerts.id),
      state: k.text("state").$type<AlertState>().notNull(),
      /** When it was raised, or over. */
      at: k.int("at").notNull(),
      detail: k.text("detail").notNull(),
      /** When it arrived, or was given up; null: it waits. */
      sent_at: k.int("sent_at"),
      given_up_at: k.int("given_up_at"),
    },
    (t) => [
      k.index("alert_notices_waiting").on(t.target_id, t.id).where(sql`sent_at is null and given_up_at is null`),
      k.index("alert_notices_target").on(t.target_id, t.id),
      k.index("alert_notices_alert").on(t.alert_id, t.target_id),
    ],
  );

  return { alertTargets, alerts, alertNotices };
}

import type { Kit } from "./kit.ts";

/** What the installation itself keeps: settings, wrapped data keys, the audit trail, cron runs. */
export function platformTables(k: Kit) {
  const settings = k.table("settings", {
    key: k.text("key").primaryKey(),
    value: k.text("value").notNull(),
  });

  const dataKeys = k.table("data_keys", {
    id: k.text("id").primaryKey(),
    purpose: k.text("purpose").$type<"field" | "index" | "link">().notNull(),
    /** The key, sealed under the master key of the key file. */
    wrapped: k.text("wrapped").notNull(),
    created_at: k.int("created_at").notNull(),
    retired_at: k.int("retired_at"),
  });

  const auditEntries = k.table(
    "audit_entries",
    {
      id: k.text("id").primaryKey(),
      at: k.int("at").notNull(),
      /** Who did it: `operator`, `client:<client_id>`, `worker`, `carrier:<name>`. */
      actor: k.text("actor").notNull(),
      action: k.text("action").notNull(),
      target_kind: k.text("target_kind").notNull(),
      target_id: k.text("target_id").notNull(),
      partner_id: k.text("partner_id"),
      /** Names of the fields concerned, never their values. */
      fields: k.json<string[]>("fields"),
      note: k.text("note"),
    },
    (t) => [
      k.index("audit_entries_at").on(t.at, t.id),
      k.index("audit_entries_target").on(t.target_id, t.at, t.id),
      k.index("audit_entries_partner").on(t.partner_id, t.at, t.id),
    ],
  );

  return { settings, dataKeys, auditEntries };
}

import { sql } from "drizzle-orm";
import type { PartnerId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import { linkColumns } from "./chains.ts";
import type { Kit } from "./kit.ts";
import type { CronJob, FieldChange, KeyPurpose, OutageKind, PauseKind } from "./values.ts";

/** What the installation itself keeps: settings, wrapped data keys, the audit trail, and what the daemon last did. */
export function platformTables(k: Kit) {
  const settings = k.table("settings", {
    key: k.text("key").primaryKey(),
    value: k.text("value").notNull(),
  });

  const dataKeys = k.table("data_keys", {
    id: k.text("id").primaryKey(),
    purpose: k.text("purpose").$type<KeyPurpose>().notNull(),
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
      /** Who did it: `operator (<user>)`, `client:<client_id>`, `worker`, `carrier:<name>`. */
      actor: k.text("actor").notNull(),
      action: k.text("action").notNull(),
      target_kind: k.text("target_kind").notNull(),
      target_id: k.text("target_id").notNull(),
      partner_id: k.text("partner_id"),
      /** Names of the fields concerned. */
      fields: k.json<string[]>("fields"),
      /** What values changed, never of identity data, secrets or free text; null: none that are kept. */
      changes: k.json<FieldChange[]>("changes"),
      note: k.text("note"),
      /** The HTTP request that it was done by. */
      request_id: k.text("request_id"),
      /** `audit:<partner id>`, or `audit:platform` for acts that concern no partner. */
      chain: k.text("chain"),
      ...linkColumns(k),
    },
    (t) => [
      k.index("audit_entries_at").on(t.at, t.id),
      k.index("audit_entries_target").on(t.target_id, t.at, t.id),
      k.uniqueIndex("audit_entries_chain").on(t.chain, t.chain_no),
      k.index("audit_entries_chain_at").on(t.chain, t.at),
      k.index("audit_entries_request").on(t.request_id, t.id).where(sql`request_id is not null`),
    ],
  );

  const requestCounts = k.table("request_counts", {
    /** Minutes since 1970. */
    minute: k.int("minute").primaryKey(),
    /** Requests answered in it, by all daemons on this database. */
    requests: k.int("requests").notNull(),
    /** Those of them that failed on our side (5xx). */
    failed: k.int("failed").notNull(),
  });

  const refusedRequests = k.table(
    "refused_requests",
    {
      /** Begins with the moment of the refusal. */
      id: k.text("id").primaryKey(),
      partner_id: k.text("partner_id").$type<PartnerId>().notNull(),
      environment: k.text("environment").$type<Environment>().notNull(),
      client_id: k.text("client_id").notNull(),
      method: k.text("method").notNull(),
      /** The route's pattern: nothing of the address itself, of a query or of a body. */
      route: k.text("route").notNull(),
      status: k.int("status").notNull(),
      /** The slug of the problem. */
      problem: k.text("problem").notNull(),
      request_id: k.text("request_id").notNull(),
      at: k.int("at").notNull(),
    },
    (t) => [k.index("refused_requests_owner").on(t.partner_id, t.environment, t.id)],
  );

  const cronRuns = k.table("cron_runs", {
    job: k.text("job").$type<CronJob>().primaryKey(),
    /** The last run: when it began, how long it took, and how much it did. */
    started_at: k.int("started_at").notNull(),
    took_ms: k.int("took_ms").notNull(),
    done: k.int("done").notNull(),
    /** Why it broke off; null when it did not. */
    error: k.text("error"),
    /** The first of the runs in a row that broke off; null: the last one did not. */
    failing_since: k.int("failing_since"),
  });

  const rateWindows = k.table(
    "rate_windows",
    {
      /** Minutes since 1970. */
      minute: k.int("minute").notNull(),
      /** A keyed digest of who is counted: client IDs and addresses are not kept. */
      id: k.text("id").notNull(),
      /** Requests counted by all nodes, and those that nodes may still accept of what they drew ahead. */
      used: k.int("used").notNull(),
      held: k.int("held").notNull(),
      /** What the last draw got: for requests that were there, and ahead of those to come. */
      allowed: k.int("allowed").notNull(),
      ahead: k.int("ahead").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.minute, t.id] })],
  );

  const outages = k.table(
    "outages",
    {
      kind: k.text("kind").$type<OutageKind>().notNull(),
      /** A supplier's name, or a carrier's prefix. */
      name: k.text("name").notNull(),
      /** The first of the exchanges in a row that failed, the last one, and how many there were. */
      since: k.int("since").notNull(),
      last_at: k.int("last_at").notNull(),
      failures: k.int("failures").notNull(),
      /** Why the last one failed: our own words, no part of a response. */
      last_error: k.text("last_error").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.kind, t.name] })],
  );

  const pauses = k.table(
    "pauses",
    {
      kind: k.text("kind").$type<PauseKind>().notNull(),
      /** A supplier's name; empty where all orders are paused. */
      name: k.text("name").notNull(),
      reason: k.text("reason").notNull(),
      since: k.int("since").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.kind, t.name] })],
  );

  const callbackSignatures = k.table(
    "callback_signatures",
    {
      /** The signature of a callback that was applied (hex): the same one again changes nothing. */
      signature: k.text("signature").primaryKey(),
      /** From when on its time is too old to be accepted anyway. */
      expires_at: k.int("expires_at").notNull(),
    },
    (t) => [k.index("callback_signatures_expiry").on(t.expires_at)],
  );

  return {
    settings,
    dataKeys,
    auditEntries,
    requestCounts,
    refusedRequests,
    cronRuns,
    rateWindows,
    outages,
    pauses,
    callbackSignatures,
  };
}

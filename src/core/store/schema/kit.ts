import { sql } from "drizzle-orm";
import * as lite from "drizzle-orm/sqlite-core";
import type { AttemptSource } from "./values.ts";

/**
 * The few column types that both engines hold alike: text and 64-bit integers. Times are integer milliseconds, flags
 * are 0/1, JSON is text. Tables are written once against this kit and built for either engine, so the two schemas
 * cannot drift apart.
 */
export const sqliteKit = {
  table: lite.sqliteTable,
  index: lite.index,
  uniqueIndex: lite.uniqueIndex,
  primaryKey: lite.primaryKey,
  check: lite.check,
  text: (name: string) => lite.text(name),
  int: (name: string) => lite.integer(name),
  flag: (name: string) => liteFlag(name),
  json: <T>(name: string) => liteJson(name).$type<T>(),
};

export type Kit = typeof sqliteKit;

const liteFlag = lite.customType<{ data: boolean; driverData: number }>({
  dataType: () => "integer",
  toDriver: flagToDriver,
  fromDriver: (value) => value === 1,
});

const liteJson = lite.customType<{ data: unknown; driverData: string | null }>({
  dataType: () => "text",
  toDriver: jsonToDriver,
  fromDriver: jsonFromDriver,
});

/** A flag as both engines store it. */
export function flagToDriver(value: boolean): number {
  return value ? 1 : 0;
}

/**
 * JSON as both engines store it. drizzle hands null to the encoder of a placeholder; it must stay a null of the
 * database, not the text "null".
 */
export function jsonToDriver(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** What `jsonToDriver` stored. */
export function jsonFromDriver(value: string | null): unknown {
  return value === null ? null : JSON.parse(value);
}

/** The columns of an exchange with a carrier or a supplier, beside the reference to what it was about. */
export function attemptColumns(k: Kit) {
  return {
    id: k.text("id").primaryKey(),
    at: k.int("at").notNull(),
    source: k.text("source").$type<AttemptSource>().notNull(),
    /** What it came to: accepted, confirmed, activated, refused, temporary or waiting. */
    outcome: k.text("outcome").notNull(),
    status_code: k.int("status_code"),
    latency_ms: k.int("latency_ms"),
    /** The response, identity data redacted; or why it could not be read. */
    answer: k.text("answer"),
    /** The HTTP request that a callback came in; null where we asked, or staff said it in the terminal. */
    request_id: k.text("request_id"),
  };
}

/** The columns of a row that workers claim, beside its id and `due_at`; platform/lease.ts writes them. */
export function leaseColumns(k: Kit) {
  return {
    /** Until when a worker holds it; null: no worker does. Equal to `due_at` while it is set. */
    leased_until: k.int("leased_until"),
    /** Raised by each claim: an older number has lost its lease. Not a time: two claims may share one. */
    lease_no: k.int("lease_no").notNull().default(0),
  };
}

/** No worker looks at the row again. The database checks that this holds for what has ended. */
export const NOTHING_DUE = sql`(due_at is null and leased_until is null and deadline_at is null)`;

/** The last four digits of an ICCID, as its index has them. */
export const iccidEnd = sql`(substr(iccid, length(iccid) - 3))`;

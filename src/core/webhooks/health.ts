import type { EventKind } from "../events/catalog.ts";
import type { WebhookId } from "../kernel/brand.ts";
import { updateRows } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { stopEndpoint } from "./disable.ts";
import { cutDelay, FAILURES_TO_GIVE_UP, type Verdict } from "./retries.ts";
import { findWebhooks, type WebhookRow } from "./webhook.ts";

/** An attempt as its endpoint's health sees it. */
export interface Tried {
  endpointId: WebhookId;
  /** The event that was sent. */
  event: EventKind;
  eventId: string;
  /** When it began (ms). */
  at: number;
  /** Null: no answer came. */
  statusCode: number | null;
  /** The response was cut off at the bound of bytes. */
  cut: boolean;
}

/** The health of endpoints while outcomes are applied: read once, written once, however many outcomes there are. */
export interface HealthBook {
  /** Takes an attempt into account. */
  note(tried: Tried, verdict: Verdict): void;
  /** Stops the endpoints that are gone or failed too often. */
  stop(): Promise<void>;
  /** The endpoints that `write` writes. */
  noted(): ReadonlySet<WebhookId>;
  /** Whether an endpoint gets nothing for a while, since its responses were cut off. */
  waits(id: WebhookId): boolean;
  /** Writes it all. */
  write(): Promise<void>;
}

/** What the outcomes so far have made of an endpoint. */
interface Entry {
  row: WebhookRow;
  last: Tried;
  failures: number;
  streak: Streak;
  stop: "disabled" | "failed" | null;
}

/** Attempts in a row that failed, and that were cut off. */
type Streak = Pick<WebhookRow, "failed_attempts" | "failing_since" | "cut_attempts" | "waits_until">;

/** A book for the outcomes of one transaction, of attempts at these endpoints. */
export async function openHealthBook(tx: Tx, ids: ReadonlySet<WebhookId>): Promise<HealthBook> {
  const rows = await findWebhooks(tx, [...ids]);
  const noted = new Map<WebhookId, Entry>();

  function entryOf(tried: Tried): Entry | null {
    const known = noted.get(tried.endpointId);
    if (known !== undefined) return known;
    const row = rows.get(tried.endpointId);
    if (row === undefined) return null;
    const entry: Entry = { row, last: tried, failures: row.consecutive_failures, streak: row, stop: null };
    noted.set(tried.endpointId, entry);
    return entry;
  }

  return {
    note(tried, verdict) {
      const entry = entryOf(tried);
      if (entry === null) return;
      entry.last = tried;
      entry.failures = failuresAfter(entry.failures, verdict);
      entry.streak = streakAfter(entry.streak, tried, { verdict, now: tx.now });
      entry.stop = stopAfter(entry, verdict);
    },
    async stop() {
      for (const { row, stop } of noted.values()) {
        if (stop !== null && row.status === "active") await stopEndpoint(tx, row, stop);
      }
    },
    noted: () => new Set(noted.keys()),
    waits: (id) => (noted.get(id)?.streak.waits_until ?? 0) > tx.now,
    async write() {
      const healths = [...noted].map(([id, { last, failures, streak }]) => ({
        id,
        last_event: last.event,
        last_event_id: last.eventId,
        last_status_code: last.statusCode,
        last_at: last.at,
        consecutive_failures: failures,
        failed_attempts: streak.failed_attempts,
        failing_since: streak.failing_since,
        cut_attempts: streak.cut_attempts,
        waits_until: streak.waits_until,
      }));
      await updateRows(tx, "webhookEndpoints", healths);
    },
  };
}

function failuresAfter(failures: number, { kind }: Verdict): number {
  if (kind === "delivered") return 0;
  return kind === "exhausted" ? failures + 1 : failures;
}

function streakAfter(before: Streak, tried: Tried, { verdict, now }: { verdict: Verdict; now: number }): Streak {
  const cut_attempts = tried.cut ? before.cut_attempts + 1 : 0;
  const delay = cutDelay(cut_attempts);
  const waits_until = delay === null ? null : now + delay;
  if (verdict.kind === "delivered") return { failed_attempts: 0, failing_since: null, cut_attempts, waits_until };
  const failing_since = before.failing_since ?? tried.at;
  return { failed_attempts: before.failed_attempts + 1, failing_since, cut_attempts, waits_until };
}

function stopAfter({ failures, stop }: Entry, { kind }: Verdict): Entry["stop"] {
  if (kind === "gone") return "disabled";
  return stop ?? (failures >= FAILURES_TO_GIVE_UP ? "failed" : null);
}

import type { EventKind } from "../events/catalog.ts";
import type { WebhookId } from "../kernel/brand.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { stopEndpoint } from "./disable.ts";
import { FAILURES_TO_GIVE_UP, type Verdict } from "./retries.ts";
import { findWebhook, type WebhookRow } from "./webhook.ts";

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
}

/** The health of endpoints while outcomes are applied: read once, written once, however many outcomes there are. */
export interface HealthBook {
  /** Takes an attempt into account; `dueAt` is when its delivery is attempted again, or null. */
  note(tried: Tried, verdict: Verdict, dueAt: number | null): Promise<void>;
  /** Writes it all, and stops the endpoints that are gone or failed too often. */
  write(): Promise<void>;
}

interface Entry {
  row: WebhookRow;
  stop: "disabled" | "failed" | null;
}

/** A book for the outcomes of one transaction. */
export function createHealthBook(tx: Tx): HealthBook {
  const entries = new Map<WebhookId, Entry | null>();

  async function entryOf(id: WebhookId): Promise<Entry | null> {
    const known = entries.get(id);
    if (known !== undefined) return known;
    const row = await findWebhook(tx, id);
    const entry = row === null ? null : { row, stop: null };
    entries.set(id, entry);
    return entry;
  }

  return {
    async note(tried, verdict, dueAt) {
      const entry = await entryOf(tried.endpointId);
      if (entry === null) return;
      entry.row = rowAfter(entry.row, tried, verdict, dueAt);
      if (verdict.kind === "gone") entry.stop = "disabled";
      else if (entry.row.consecutive_failures >= FAILURES_TO_GIVE_UP) entry.stop ??= "failed";
    },
    async write() {
      for (const entry of entries.values()) {
        if (entry === null) continue;
        const { row, stop } = entry;
        const { id, last_event, last_event_id, last_status_code, last_at, consecutive_failures, due_at } = row;
        const last = { last_event, last_event_id, last_status_code, last_at };
        await updateRow(tx, "webhookEndpoints", { id }, { ...last, consecutive_failures, due_at });
        if (stop !== null && row.status === "active") await stopEndpoint(tx, row, stop);
      }
    },
  };
}

function rowAfter(row: WebhookRow, tried: Tried, verdict: Verdict, dueAt: number | null): WebhookRow {
  const failed = verdict.kind === "exhausted" ? 1 : 0;
  return {
    ...row,
    last_event: tried.event,
    last_event_id: tried.eventId,
    last_status_code: tried.statusCode,
    last_at: tried.at,
    consecutive_failures: verdict.kind === "delivered" ? 0 : row.consecutive_failures + failed,
    due_at: dueAt === null ? row.due_at : Math.min(row.due_at ?? dueAt, dueAt),
  };
}

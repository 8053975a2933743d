import type { EventKind } from "../events/catalog.ts";
import type { WebhookId } from "../kernel/brand.ts";
import { updateRows } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { stopEndpoint } from "./disable.ts";
import { FAILURES_TO_GIVE_UP, type Verdict } from "./retries.ts";
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
}

/** The health of endpoints while outcomes are applied: read once, written once, however many outcomes there are. */
export interface HealthBook {
  /** Takes an attempt into account; `dueAt` is when its delivery is attempted again, or null. */
  note(tried: Tried, verdict: Verdict, dueAt: number | null): void;
  /** Writes it all, and stops the endpoints that are gone or failed too often. */
  write(): Promise<void>;
}

interface Entry {
  row: WebhookRow;
  stop: "disabled" | "failed" | null;
}

/** A book for the outcomes of one transaction, of attempts at these endpoints. */
export async function openHealthBook(tx: Tx, ids: ReadonlySet<WebhookId>): Promise<HealthBook> {
  const rows = await findWebhooks(tx, [...ids]);
  const noted = new Map<WebhookId, Entry>();
  return {
    note(tried, verdict, dueAt) {
      const row = noted.get(tried.endpointId)?.row ?? rows.get(tried.endpointId);
      if (row === undefined) return;
      const after = rowAfter(row, tried, verdict, dueAt);
      const stop = noted.get(tried.endpointId)?.stop ?? null;
      noted.set(tried.endpointId, { row: after, stop: stopAfter(after, verdict, stop) });
    },
    async write() {
      const entries = [...noted.values()];
      await updateRows(
        tx,
        "webhookEndpoints",
        entries.map(({ row }) => {
          const { id, last_event, last_event_id, last_status_code, last_at, consecutive_failures, due_at } = row;
          return { id, last_event, last_event_id, last_status_code, last_at, consecutive_failures, due_at };
        }),
      );
      for (const { row, stop } of entries) {
        if (stop !== null && row.status === "active") await stopEndpoint(tx, row, stop);
      }
    },
  };
}

function stopAfter(row: WebhookRow, verdict: Verdict, before: Entry["stop"]): Entry["stop"] {
  if (verdict.kind === "gone") return "disabled";
  return before ?? (row.consecutive_failures >= FAILURES_TO_GIVE_UP ? "failed" : null);
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

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
  /** Takes an attempt into account. */
  note(tried: Tried, verdict: Verdict): void;
  /** Stops the endpoints that are gone or failed too often. */
  stop(): Promise<void>;
  /** The endpoints that `write` writes. */
  noted(): ReadonlySet<WebhookId>;
  /** Writes it all. */
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
    note(tried, verdict) {
      const row = noted.get(tried.endpointId)?.row ?? rows.get(tried.endpointId);
      if (row === undefined) return;
      const after = rowAfter(row, tried, verdict);
      const stop = noted.get(tried.endpointId)?.stop ?? null;
      noted.set(tried.endpointId, { row: after, stop: stopAfter(after, verdict, stop) });
    },
    async stop() {
      for (const { row, stop } of noted.values()) {
        if (stop !== null && row.status === "active") await stopEndpoint(tx, row, stop);
      }
    },
    noted: () => new Set(noted.keys()),
    async write() {
      const healths = [...noted.values()].map(({ row }) => {
        const { id, last_event, last_event_id, last_status_code, last_at, consecutive_failures } = row;
        return { id, last_event, last_event_id, last_status_code, last_at, consecutive_failures };
      });
      await updateRows(tx, "webhookEndpoints", healths);
    },
  };
}

function stopAfter(row: WebhookRow, verdict: Verdict, before: Entry["stop"]): Entry["stop"] {
  if (verdict.kind === "gone") return "disabled";
  return before ?? (row.consecutive_failures >= FAILURES_TO_GIVE_UP ? "failed" : null);
}

function rowAfter(row: WebhookRow, tried: Tried, verdict: Verdict): WebhookRow {
  const failed = verdict.kind === "exhausted" ? 1 : 0;
  return {
    ...row,
    last_event: tried.event,
    last_event_id: tried.eventId,
    last_status_code: tried.statusCode,
    last_at: tried.at,
    consecutive_failures: verdict.kind === "delivered" ? 0 : row.consecutive_failures + failed,
  };
}

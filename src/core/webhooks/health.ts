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

/** What the outcomes so far have made of an endpoint. */
interface Entry {
  row: WebhookRow;
  last: Tried;
  failures: number;
  stop: "disabled" | "failed" | null;
}

/** A book for the outcomes of one transaction, of attempts at these endpoints. */
export async function openHealthBook(tx: Tx, ids: ReadonlySet<WebhookId>): Promise<HealthBook> {
  const rows = await findWebhooks(tx, [...ids]);
  const noted = new Map<WebhookId, Entry>();

  function entryOf(tried: Tried): Entry | null {
    const known = noted.get(tried.endpointId);
    if (known !== undefined) return known;
    const row = rows.get(tried.endpointId);
    if (row === undefined) return null;
    const entry: Entry = { row, last: tried, failures: row.consecutive_failures, stop: null };
    noted.set(tried.endpointId, entry);
    return entry;
  }

  return {
    note(tried, verdict) {
      const entry = entryOf(tried);
      if (entry === null) return;
      entry.last = tried;
      entry.failures = failuresAfter(entry.failures, verdict);
      entry.stop = stopAfter(entry, verdict);
    },
    async stop() {
      for (const { row, stop } of noted.values()) {
        if (stop !== null && row.status === "active") await stopEndpoint(tx, row, stop);
      }
    },
    noted: () => new Set(noted.keys()),
    async write() {
      const healths = [...noted].map(([id, { last, failures }]) => ({
        id,
        last_event: last.event,
        last_event_id: last.eventId,
        last_status_code: last.statusCode,
        last_at: last.at,
        consecutive_failures: failures,
      }));
      await updateRows(tx, "webhookEndpoints", healths);
    },
  };
}

function failuresAfter(failures: number, { kind }: Verdict): number {
  if (kind === "delivered") return 0;
  return kind === "exhausted" ? failures + 1 : failures;
}

function stopAfter({ failures, stop }: Entry, { kind }: Verdict): Entry["stop"] {
  if (kind === "gone") return "disabled";
  return stop ?? (failures >= FAILURES_TO_GIVE_UP ? "failed" : null);
}

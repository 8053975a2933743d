import { recordAudit } from "../audit/record.ts";
import { jsonWithoutTraces, withoutTraces } from "../kernel/traces.ts";
import { openEvent } from "../outbox/event-payload.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Read, Tx } from "../store/store.ts";
import { noteErasure } from "../store/stored-value.ts";
import { clearEvent, isCleared } from "../webhooks/clear-events.ts";
import type { Clearing } from "./clear.ts";

/** Columns of free text and JSON that may repeat a person, beside the fields that name one. */
const places = {
  orders: ["metadata", "external_order_id", "reason"],
  orderItems: ["error_type", "error_message", "confirmation_number"],
  itemAttempts: ["answer"],
  activations: ["plan_name", "note", "error_type", "error_message", "cancel_reason", "confirmation_number"],
  activationAttempts: ["answer"],
  passports: ["reference", "rejection"],
  events: ["data"],
  deliveryAttempts: ["error", "response_body"],
} as const satisfies { [N in TextTable]: readonly (keyof Row<N>)[] };

/** Columns of records that are never changed: they are searched, and what is found is named. */
const lasting = {
  auditEntries: ["note"],
  ledgerTransactions: ["reference"],
} as const satisfies { [N in LastingTable]: readonly (keyof Row<N>)[] };

export type TextTable =
  | "orders"
  | "orderItems"
  | "itemAttempts"
  | "activations"
  | "activationAttempts"
  | "passports"
  | "events"
  | "deliveryAttempts";
export type LastingTable = "auditEntries" | "ledgerTransactions";

export const textTables = Object.keys(places) as TextTable[]; // the keys of a record are its names
export const lastingTables = Object.keys(lasting) as LastingTable[];

type Values = Record<string, unknown>;

/** The columns of a row that repeat the person, each without it. Empty: none does. */
export function tracedColumns(
  q: Read,
  table: TextTable | LastingTable,
  row: object,
  traces: readonly RegExp[],
): Values {
  const columns: readonly string[] = table in lasting ? lasting[table as LastingTable] : places[table as TextTable];
  const open = table === "events" ? openEvent(q, row as Row<"events">) : row;
  const values: Values = { ...open };
  return Object.fromEntries(
    columns.flatMap((column) => {
      const before = values[column];
      const after = typeof before === "string" ? withoutTraces(before, traces) : jsonWithoutTraces(before, traces);
      return JSON.stringify(before) === JSON.stringify(after) ? [] : [[column, after]];
    }),
  );
}

/**
 * Takes a person out of the texts of a row that is not theirs otherwise; the body of an event is cleared whole, since
 * half of one would be no event. False: nothing was left to do.
 */
export async function clearTexts(
  tx: Tx,
  input: { table: TextTable; id: string; traces: readonly RegExp[]; clearing: Clearing },
): Promise<boolean> {
  const { table, id, traces, clearing } = input;
  // The id was read from this table.
  const key = { id: id as never };
  const row = await findByKey(tx, table, key);
  if (row === null) return false;
  const changes = tracedColumns(tx, table, row, traces);
  if (Object.keys(changes).length === 0 || (table === "events" && isCleared(row as Row<"events">))) return false;
  if (table === "events") await clearEvent(tx, id);
  else await updateRow(tx, table, key, changes as never);
  await noteErasure(tx);
  await recordAudit(tx, {
    actor: clearing.actor,
    action: "texts.erase",
    targetKind: kindOf(table),
    targetId: id,
    partnerId: "partner_id" in row ? row.partner_id : null,
    fields: Object.keys(changes),
  });
  return true;
}

const kinds = {
  orders: "order",
  orderItems: "order_item",
  itemAttempts: "supplier_exchange",
  activations: "activation",
  activationAttempts: "carrier_exchange",
  passports: "passport",
  events: "event",
  deliveryAttempts: "delivery_attempt",
  auditEntries: "audit_entry",
  ledgerTransactions: "ledger_transaction",
} as const;

export type TextKind = (typeof kinds)[TextTable | LastingTable];

/** What a row of a table is called in the audit trail and at the terminal. */
export function kindOf(table: TextTable | LastingTable): TextKind {
  return kinds[table];
}

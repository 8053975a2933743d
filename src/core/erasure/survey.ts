import { isoTime } from "../kernel/clock.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Read, Store } from "../store/store.ts";
import { isCleared } from "../webhooks/clear-events.ts";
import { activationFields, hasEnded, itemFields, mailFields, orderFields } from "./clear.ts";
import { type PagedTable, readWhole } from "./pages.ts";
import {
  isOwnActivation,
  isOwnItem,
  isOwnMail,
  isOwnOrder,
  isOwnPassport,
  type Person,
  tracesOfPerson,
} from "./person.ts";
import {
  kindOf,
  type LastingTable,
  lastingTables,
  type TextKind,
  type TextTable,
  textTables,
  tracedColumns,
} from "./texts.ts";

/** A record that names the person, or whose text repeats them. */
export interface Found {
  kind: "passport" | "activation" | "order_item" | "order" | "traveler_mail" | TextKind;
  id: string;
  /** The partner's ID; null where a record has none. */
  partner_id: string | null;
  environment: string | null;
  /** When the record was made. */
  date: string;
  status: string | null;
  /** Names of the fields that hold something of the person. Never values. */
  fields: string[];
  /**
   * `erasable`; `open`: it is not finished and needs the person's data; `kept`: the audit trail and the ledger are
   * never changed.
   */
  state: "erasable" | "open" | "kept";
  /** The table of a text that repeats the person; null: the record is their own. */
  table: TextTable | null;
  /** The order that it is, or belongs to, once that has ended. */
  ended_order: string | null;
}

/** The fields of a passport that are deleted with it. */
const passportFields = ["identity", "reference"];

/** Whether a request needs no personal data any more. One that waits for staff does. */
export function isFinished({ finished_at }: Row<"activations">): boolean {
  return finished_at !== null;
}

/** The same of an order's item: it may be sent again until then. */
export function isSettled({ status }: Row<"orderItems">): boolean {
  return status === "activated" || status === "failed" || status === "cancelled";
}

/** Everything that names the person or repeats them. Reads all tables that can, a page at a time; changes nothing. */
export async function surveyPerson(store: Store, person: Person, signal?: AbortSignal): Promise<Found[]> {
  const found: Found[] = [];
  const take = async (rows: AsyncGenerator<Found[]>) => {
    for await (const page of rows) found.push(...page);
  };
  await take(readWhole(store, "passports", async (q, row) => passportOf(q, person, row), signal));
  await take(readWhole(store, "activations", async (q, row) => activationOf(q, person, row), signal));
  await take(readWhole(store, "orderItems", (q, row) => itemOf(q, person, row), signal));
  await take(readWhole(store, "orders", async (q, row) => orderOf(q, person, row), signal));
  await take(readWhole(store, "travelerMails", async (q, row) => mailOf(q, person, row), signal));
  const ids = new Set(found.map(({ id }) => id));
  // An order that has ended loses its customer and metadata, and keeps its events.
  const whole = new Set(found.filter(({ kind, state }) => kind !== "order" || state === "open").map(({ id }) => id));
  const search = { person, ids, whole, signal };
  for (const table of [...textTables, ...lastingTables]) await take(textsOf(store, table, search));
  return found;
}

/** For a record that is the person's own. */
const own = { table: null, ended_order: null } as const;

function passportOf(q: Read, person: Person, row: Row<"passports">): Found | null {
  if (!isOwnPassport(q, person, row)) return null;
  const status = row.withdrawn_at === null ? row.verification : "withdrawn";
  return { kind: "passport", ...about(row), ...own, status, fields: passportFields, state: "erasable" };
}

function activationOf(q: Read, person: Person, row: Row<"activations">): Found | null {
  if (!isOwnActivation(q, person, row)) return null;
  const status = row.processing_status === "manual_required" ? row.processing_status : row.status;
  const state = isFinished(row) ? "erasable" : "open";
  return { kind: "activation", ...about(row), ...own, status, fields: activationFields, state };
}

async function itemOf(q: Read, person: Person, row: Row<"orderItems">): Promise<Found | null> {
  if (!isOwnItem(q, person, row)) return null;
  const order = await findByKey(q, "orders", { id: row.order_id });
  const whose = { partner_id: order?.partner_id ?? null, environment: order?.environment ?? null };
  const ended_order = order !== null && hasEnded(order) ? order.id : null;
  const state = isSettled(row) ? "erasable" : "open";
  const { status } = row;
  return { kind: "order_item", ...about(row), ...whose, table: null, ended_order, status, fields: itemFields, state };
}

function orderOf(q: Read, person: Person, row: Row<"orders">): Found | null {
  if (!isOwnOrder(q, person, row)) return null;
  const ended = hasEnded(row);
  const state = ended ? "erasable" : "open";
  const { status } = row;
  return {
    kind: "order",
    ...about(row),
    table: null,
    ended_order: ended ? row.id : null,
    status,
    fields: orderFields,
    state,
  };
}

function mailOf(q: Read, person: Person, row: Row<"travelerMails">): Found | null {
  if (!isOwnMail(q, person, row)) return null;
  const { status } = row;
  return { kind: "traveler_mail", ...about(row), ...own, status, fields: mailFields, state: "erasable" };
}

function about(row: { id: string; partner_id?: string | null; environment?: string | null; created_at: number }) {
  const { id, partner_id = null, environment = null, created_at } = row;
  return { id, partner_id, environment, date: isoTime(created_at) };
}

interface TextSearch {
  person: Person;
  /** The person's own records: what repeats them there is cleared, or left, with the record. */
  ids: ReadonlySet<string>;
  /** Those of them whose exchanges and events are too. */
  whole: ReadonlySet<string>;
  signal: AbortSignal | undefined;
}

function textsOf(store: Store, table: TextTable | LastingTable, { person, ids, whole, signal }: TextSearch) {
  const traces = tracesOfPerson(person);
  const lasts = lastingTables.some((name) => name === table);
  const pick = async (q: Read, row: Row<PagedTable>): Promise<Found | null> => {
    if (ids.has(row.id) || isPartOf(row, whole)) return null;
    const fields = Object.keys(tracedColumns(q, table, row, traces));
    if (fields.length === 0) return null;
    const { partner_id = null, environment = null } = row as {
      partner_id?: string | null;
      environment?: string | null;
    };
    return {
      kind: kindOf(table),
      id: row.id,
      partner_id,
      environment,
      date: isoTime(momentOf(row)),
      status: "status" in row ? row.status : null,
      fields,
      state: lasts ? "kept" : "erasable",
      table: lasts ? null : (table as TextTable),
      ended_order: null,
    };
  };
  return readWhole(store, table as PagedTable, pick, signal);
}

function momentOf(row: Row<PagedTable>): number {
  if ("created_at" in row) return row.created_at;
  return "occurred_at" in row ? row.occurred_at : row.at;
}

/** Whether a row is an exchange about one of these records, or an event of one; cleared events hold nothing. */
function isPartOf(row: Row<PagedTable>, ids: ReadonlySet<string>): boolean {
  if ("subject_id" in row) return ids.has(row.subject_id) || isCleared(row);
  if ("activation_id" in row) return ids.has(row.activation_id);
  return "item_id" in row && ids.has(row.item_id);
}

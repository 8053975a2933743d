import { eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { PartnerId } from "../../kernel/brand.ts";
import { type Environment, environments } from "../../kernel/environment.ts";
import { keysOfPerson } from "../../kernel/people-keys.ts";
import { insert } from "../rows.ts";
import type { NewRow, Tables } from "../schema/tables.ts";
import type { ActivationCustomer, MobileNumber, NamedKind, OrderCustomer, Traveler } from "../schema/values.ts";
import { type Slots, statement, textAt } from "../statement.ts";
import type { Dialect, Read, Tx } from "../store.ts";
import type { Cell, SealedColumn } from "../vault.ts";

/** A JSON value that is sealed in a column of its row. */
function sealedJson<T>(column: SealedColumn) {
  const cell = (row: string): Cell => ({ column, row });
  const openText = ({ vault }: Pick<Read, "vault">, row: string, sealed: string | null): string | null =>
    sealed === null ? null : vault.openIfReadable(sealed, cell(row));
  return {
    /** Only inside a command, see `Vault.seal`. */
    seal: (q: Pick<Read, "vault">, row: string, value: T): string => q.vault.seal(JSON.stringify(value), cell(row)),
    /** What `seal` sealed; null for null, and where it cannot be read, which is reported. */
    open(q: Pick<Read, "vault">, row: string, sealed: string | null): T | null {
      const opened = openText(q, row, sealed);
      // `seal` sealed exactly this shape.
      return opened === null ? null : (JSON.parse(opened) as T);
    },
    /** The same as the text that it was. */
    openText,
  };
}

export const sealedOrderCustomer = sealedJson<OrderCustomer>("orders.customer_sealed");
export const sealedTraveler = sealedJson<Traveler>("order_items.traveller_sealed");
export const sealedActivationCustomer = sealedJson<ActivationCustomer>("activations.customer_sealed");
export const sealedMobileNumber = sealedJson<MobileNumber>("activations.mobile_number_sealed");
export const sealedEventData = sealedJson<Record<string, unknown>>("events.sealed");

/** The keys under which records are found by whom they name. */
export const keysOfCustomer = ({ name, email, phone }: OrderCustomer) =>
  keysOfPerson({ name, email, numbers: [phone] });

export const keysOfTraveler = ({ customer_name, customer_email, customer_phone, eid_number }: Traveler) =>
  keysOfPerson({ name: customer_name, email: customer_email, numbers: [customer_phone, eid_number] });

export const keysOfActivationCustomer = ({ customer_name, customer_email, customer_phone }: ActivationCustomer) =>
  keysOfPerson({ name: customer_name, email: customer_email, numbers: [customer_phone] });

export const keysOfMobileNumber = ({ mobile_number }: MobileNumber) => keysOfPerson({ numbers: [mobile_number] });

export const keysOfParcel = ({ tracking_number }: { tracking_number: string }) =>
  keysOfPerson({ numbers: [tracking_number] });

export const keysOfPassport = ({ first_name, last_name }: { first_name: string; last_name: string }) =>
  keysOfPerson({ name: `${first_name} ${last_name}` });

/** Whose records are meant: the same name at two partners has two digests. */
export interface IndexScope {
  partner_id: PartnerId;
  environment: Environment;
}

/** A record that names people. */
export interface NamedRecord {
  kind: NamedKind;
  id: string;
}

/** Keys to look up (see kernel/people-keys.ts): records under the first, and also under the second if there is one. */
export type IndexKeys = readonly [key: string, other?: string | undefined];

/** Characters of a digest that are kept: 96 bits. What a collision finds is dropped once the record is opened. */
const DIGEST_LENGTH = 16;

function digestOf({ vault }: Pick<Read, "vault">, { partner_id, environment }: IndexScope, key: string): string {
  return vault.blindIndex(`people ${partner_id} ${environment}`, key).slice(0, DIGEST_LENGTH);
}

/** Makes the digests of each scope, each once: of many people some share names, and more the beginnings of names. */
export function digestsOnce(q: Pick<Read, "vault">): (scope: IndexScope) => (key: string) => string {
  const scopes = new Map<string, (key: string) => string>();
  return (scope) => {
    const name = `${scope.partner_id} ${scope.environment}`;
    const ofScope = scopes.get(name) ?? digestsIn(q, scope);
    scopes.set(name, ofScope);
    return ofScope;
  };
}

function digestsIn(q: Pick<Read, "vault">, scope: IndexScope): (key: string) => string {
  const made = new Map<string, string>();
  return (key) => {
    const digest = made.get(key) ?? digestOf(q, scope, key);
    made.set(key, digest);
    return digest;
  };
}

/** A record that is to be found, by whom and under which keys, each at most once. */
export interface IndexEntry {
  scope: IndexScope;
  record: NamedRecord;
  keys: readonly string[];
}

/** Rows of one statement: many records share one, and its text stays small. */
const BATCH = 2_000;

const partners = statement((db, t, _slot) => db.select({ id: t.partners.id }).from(t.partners));

/** The scopes of one partner or of all, in one environment or in both. */
export async function indexScopes(
  q: Read,
  { partnerId, environment }: { partnerId?: PartnerId | undefined; environment?: Environment | undefined },
): Promise<IndexScope[]> {
  const ids = partnerId === undefined ? (await partners(q, {})).map(({ id }) => id) : [partnerId];
  const within = environment === undefined ? environments : [environment];
  return ids.flatMap((partner_id) => within.map((one) => ({ partner_id, environment: one })));
}

/** Makes records be found under these keys, beside those that they have. */
export async function indexRecords(tx: Tx, entries: readonly IndexEntry[]): Promise<void> {
  const digests = digestsOnce(tx);
  const rows = entries.flatMap(({ scope, record, keys }) => {
    const digestOf = digests(scope);
    return keys.map((key) => ({ digest: digestOf(key), record_id: record.id, kind: record.kind }));
  });
  await insertBatches(tx, rows);
}

/** The same for very many records, whose digests were made before. */
export async function indexDigests(
  tx: Tx,
  records: readonly (NamedRecord & { digests: readonly string[] })[],
): Promise<void> {
  const rows = records.flatMap(({ id, kind, digests }) => digests.map((digest) => ({ digest, record_id: id, kind })));
  await insertBatches(tx, rows);
}

async function insertBatches(tx: Tx, rows: readonly NewRow<"peopleIndex">[]): Promise<void> {
  for (let at = 0; at < rows.length; at += BATCH) {
    await insert(tx, "peopleIndex", rows.slice(at, at + BATCH), { skipKnown: true });
  }
}

const remove = statement((db, t, slot: Slots<{ id: string }>) =>
  db.delete(t.peopleIndex).where(eq(t.peopleIndex.record_id, slot.id)),
);

/** Makes a record be found under no key any more. */
export async function unindexRecord(tx: Tx, id: string): Promise<void> {
  await remove(tx, { id });
}

/** Replaces the keys under which a record is found. */
export async function reindexRecord(tx: Tx, entry: IndexEntry): Promise<void> {
  await unindexRecord(tx, entry.record.id);
  await indexRecords(tx, [entry]);
}

/** The digests of keys in each of these scopes, as the parameter that `namedIn` and `recordsUnder` take. */
export function digestsOf(q: Pick<Read, "vault">, scopes: readonly IndexScope[], [key, other]: IndexKeys): string {
  const under = (scope: IndexScope) => (other === undefined ? [] : [digestOf(q, scope, other)]);
  return JSON.stringify(scopes.map((scope) => [digestOf(q, scope, key), ...under(scope)]));
}

/** The rows of the index under any of these digests, and where there are two of a scope under both. */
export function rowsUnder(t: Tables, digests: SQL, dialect: Dialect): SQL {
  const other = textAt(1);
  return sql`from ${dialect.listed(digests)}
    join ${t.peopleIndex} as named on named.digest = ${textAt(0)}
    where (${other} is null or exists (
      select 1 from ${t.peopleIndex} as both_of where both_of.digest = ${other} and both_of.record_id = named.record_id
    ))`;
}

/** Whether a record of this id is under any of these digests. */
export function namedIn(t: Tables, id: SQLiteColumn, digests: SQL, dialect: Dialect): SQL {
  return sql`${id} in (select named.record_id ${rowsUnder(t, digests, dialect)})`;
}

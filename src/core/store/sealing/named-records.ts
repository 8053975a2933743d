import { and, desc, lt, type SQL, sql } from "drizzle-orm";
import type { Tables } from "../schema/tables.ts";
import type { NamedKind } from "../schema/values.ts";
import { type Slots, statement } from "../statement.ts";
import type { Dialect, Read } from "../store.ts";
import { digestsOf, type IndexKeys, type IndexScope, type NamedRecord, rowsUnder } from "./people.ts";

/** Whether a row of the index is one of `rowsUnder`. */
function isUnder(t: Tables, digests: SQL, dialect: Dialect): SQL {
  const { digest, record_id } = t.peopleIndex;
  return sql`(${digest}, ${record_id}) in (select named.digest, named.record_id ${rowsUnder(t, digests, dialect)})`;
}

const under = statement((db, t, slot: Slots<{ digests: string; limit: number }>, dialect) => {
  const { kind, record_id } = t.peopleIndex;
  return db
    .selectDistinct({ kind, id: record_id })
    .from(t.peopleIndex)
    .where(isUnder(t, sql`${slot.digests}`, dialect))
    .orderBy(desc(record_id))
    .limit(slot.limit);
});

const kindsOlder = statement((db, t, slot: Slots<{ digests: string; id: string }>, dialect) => {
  const { kind, record_id } = t.peopleIndex;
  return db
    .selectDistinct({ kind })
    .from(t.peopleIndex)
    .where(and(isUnder(t, sql`${slot.digests}`, dialect), lt(record_id, slot.id)));
});

/** The newest records under these keys in any of the scopes. */
export function recordsUnder(
  q: Read,
  scopes: readonly IndexScope[],
  keys: IndexKeys,
  limit: number,
): Promise<NamedRecord[]> {
  return under(q, { digests: digestsOf(q, scopes, keys), limit });
}

/** The kinds of the records under these keys that are older than the one of this id. */
export async function kindsUnder(
  q: Read,
  scopes: readonly IndexScope[],
  keys: IndexKeys,
  id: string,
): Promise<NamedKind[]> {
  return (await kindsOlder(q, { digests: digestsOf(q, scopes, keys), id })).map(({ kind }) => kind);
}

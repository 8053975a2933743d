import type { Kit } from "./kit.ts";
import type { NamedKind } from "./values.ts";

/** The blind index of the people that records name. */
export function peopleTables(k: Kit) {
  const peopleIndex = k.table(
    "people_index",
    {
      /** A keyed mark of a word, an address or the end of a number, within one partner and environment. */
      digest: k.text("digest").notNull(),
      record_id: k.text("record_id").notNull(),
      kind: k.text("kind").$type<NamedKind>().notNull(),
    },
    (t) => [
      k.primaryKey({ columns: [t.digest, t.record_id] }),
      // Leads to the rows of a record that is cleared or deleted.
      k.index("people_index_record").on(t.record_id),
    ],
  );
  return { peopleIndex };
}

import { and, desc, eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import type { Owner } from "../kernel/owner.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

interface Ending {
  end: string;
  digits: string;
  limit: number;
  partnerId: PartnerId;
  environment: Environment;
}

/** What is asked for: the last digits of an ICCID, four at least, among the rows of one owner or of all. */
interface AskedEnding {
  digits: string;
  owner: Owner | null;
  limit: number;
}

/** The newest rows of a table whose ICCID ends in given digits. */
export function endingIn<N extends "activations" | "esims">(table: N) {
  const listed = (owned: boolean) =>
    statement((db, t, slot: Slots<Ending>) => {
      const { id, iccid, partner_id, environment } = t[table];
      // As the indexes `…_iccid_end` have it.
      const end = sql`(substr(${iccid}, length(${iccid}) - 3))`;
      const whose = owned ? [eq(partner_id, slot.partnerId), eq(environment, slot.environment)] : [];
      return db
        .select()
        .from(t[table] as Tables["esims"])
        .where(and(sql`${end} = ${slot.end}`, sql`${iccid} like ${slot.digits}`, ...whose))
        .orderBy(desc(id))
        .limit(slot.limit);
    });
  const [ofAll, ofOwner] = [listed(false), listed(true)];
  return async (q: Read, { digits, owner, limit }: AskedEnding): Promise<Row<N>[]> => {
    const list = owner === null ? ofAll : ofOwner;
    // Only the list of an owner uses its slots.
    const rows = await list(q, { ...owner, end: digits.slice(-4), digits: `%${digits}`, limit } as Ending);
    // A select of a whole table yields its rows.
    return rows as Row<N>[];
  };
}

import { and, type Column, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { bindingOf, type OverAll, startOf } from "../kernel/list-filter.ts";
import { byCreation, type Pagination, pageOf, walk } from "../kernel/page.ts";
import type { Slots } from "../store/statement.ts";

/** The slots of a list over all partners that is newest first. */
export interface AllPartnersWindow {
  environment: Environment;
  /** The least id, and the least moment of creation. */
  from: string;
  since: number;
  key: number;
  id: string;
  limit: number;
  /** What leads to a customer (see `namedIn`). */
  digests: string;
  partnerId: PartnerId;
}

/** The rows of a window, and their order: by (created_at, id), or by the id alone, which begins with the creation. */
export function windowOf(
  { created_at, id, environment }: { created_at: Column; id: Column; environment: Column },
  slot: Slots<AllPartnersWindow>,
  byCreated: boolean,
): { rows: SQL | undefined; order: SQL[] } {
  const position = sql`(${created_at}, ${id}) < (${slot.key}, ${slot.id})`;
  const reached = byCreated ? [gte(created_at, slot.since), position] : [gte(id, slot.from), lt(id, slot.id)];
  return {
    rows: and(eq(environment, slot.environment), ...reached),
    order: [...(byCreated ? [desc(created_at)] : []), desc(id)],
  };
}

/**
 * A page of a list over all partners. `read` gets every slot of the window; rows that do not pass `fits` are skipped
 * page by page. Throws `invalid_cursor`.
 */
export function pageOfAllPartners<R>(
  list: string,
  filter: OverAll,
  { read, fits, recordOf }: ListOverAll<R>,
): Promise<{ rows: R[]; pagination: Pagination }> {
  const { limit, cursor, environment, partnerId, since = 0, until } = filter;
  const slots = { environment, since, from: firstUuidOf(since), partnerId };
  const positionOf = (row: R) => byCreation(recordOf(row));
  const passes = (row: R) => (partnerId === undefined || recordOf(row).partner_id === partnerId) && fits(row);
  return pageOf(
    { limit, cursor, binding: bindingOf(list, filter), start: startOf(until) },
    (window) => walk(window, passes, { read: (from) => read({ ...slots, ...from }), positionOf }),
    positionOf,
  );
}

interface ListOverAll<R> {
  /** A list that takes a partner is chosen only where the filter names one. */
  read(window: Omit<AllPartnersWindow, "partnerId" | "digests"> & { partnerId: PartnerId | undefined }): Promise<R[]>;
  fits(row: R): boolean;
  recordOf(row: R): { created_at: number; id: string; partner_id: PartnerId };
}

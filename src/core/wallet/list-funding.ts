import { and, desc, eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { byCreation, newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import { findByKey } from "../store/rows.ts";
import type { FundingStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type FundingRequest, requireFunding, toFundingRequest } from "./funding.ts";

const ofPartner = statement((db, t, slot: Slots<{ partner_id: PartnerId; key: number; id: string; limit: number }>) => {
  const { partner_id, created_at, id } = t.fundingRequests;
  return db
    .select()
    .from(t.fundingRequests)
    .where(and(eq(partner_id, slot.partner_id), sql`(${created_at}, ${id}) < (${slot.key}, ${slot.id})`))
    .orderBy(desc(created_at), desc(id))
    .limit(slot.limit);
});

/** A page of a partner's requests, newest first. Throws `invalid_cursor`. */
export async function listFunding(
  q: Read,
  { partnerId, limit, cursor }: { partnerId: PartnerId; limit: number; cursor?: string | undefined },
): Promise<{ data: FundingRequest[]; pagination: Pagination }> {
  const binding = { list: "funding_requests", partner: partnerId };
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start: newestFirst },
    (window) => ofPartner(q, { ...window, partner_id: partnerId }),
    byCreation,
  );
  return { data: rows.map(toFundingRequest), pagination };
}

/** A request as the operator sees it. */
export interface ListedFunding extends FundingRequest {
  /** The slug. */
  partner: string;
}

type FundingPage = { partner_id: PartnerId; status: string; key: number; id: string; limit: number };

function listed(ofOne: boolean) {
  return statement((db, t, slot: Slots<FundingPage>) => {
    const { fundingRequests: rows, partners } = t;
    return db
      .select({ request: rows, partner: partners.slug })
      .from(rows)
      .innerJoin(partners, eq(partners.id, rows.partner_id))
      .where(
        and(
          ofOne ? eq(rows.partner_id, slot.partner_id) : undefined,
          sql`(${rows.created_at}, ${rows.id}) < (${slot.key}, ${slot.id})`,
          sql`(cast(${slot.status} as text) = '' or ${rows.status} = ${slot.status})`,
        ),
      )
      .orderBy(desc(rows.created_at), desc(rows.id))
      .limit(slot.limit);
  });
}

const ofAll = listed(false);
const ofOne = listed(true);

/** Which requests of one partner or of all, in one status or in any. */
export interface AllFundingFilter {
  partnerId?: PartnerId | undefined;
  status?: FundingStatus | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** A page of announced payments, newest first. Throws `invalid_cursor`. */
export async function listAllFunding(
  q: Read,
  { partnerId, status, limit, cursor }: AllFundingFilter,
): Promise<{ data: ListedFunding[]; pagination: Pagination }> {
  const binding = { list: "all_funding_requests", partner: partnerId, status };
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start: newestFirst },
    (window) => {
      const asked = { ...window, status: status ?? "" };
      // The list of all partners has no slot for one.
      return partnerId === undefined
        ? ofAll(q, { ...asked, partner_id: "" as PartnerId })
        : ofOne(q, { ...asked, partner_id: partnerId });
    },
    ({ request }) => byCreation(request),
  );
  return { data: rows.map(({ request, partner }) => ({ ...toFundingRequest(request), partner })), pagination };
}

/** The newest of these requests. */
export async function fundingRequests(q: Read, filter: Omit<AllFundingFilter, "cursor">): Promise<ListedFunding[]> {
  return (await listAllFunding(q, filter)).data;
}

/** One request of any partner, by its reference. Throws `not_found`. */
export async function showFunding(q: Read, reference: string): Promise<ListedFunding> {
  const row = await requireFunding(q, reference);
  const partner = (await findByKey(q, "partners", { id: row.partner_id }))?.slug ?? "";
  return { ...toFundingRequest(row), partner };
}

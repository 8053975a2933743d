import type { PassportId } from "../kernel/brand.ts";
import { maskedNames, maskedNumber } from "../kernel/masked.ts";
import type { Owner } from "../kernel/owner.ts";
import type { Pagination } from "../kernel/page.ts";
import type { Read } from "../store/store.ts";
import { listExpiring } from "./expiring.ts";
import { listPassports, type PassportFilter } from "./list.ts";
import { type PassportRecord, requireAgent, requireOwnPassport, toRecord } from "./passport.ts";

/** A record of a pool as pages show it: enough to know it again, and to compare with the document. */
export interface MaskedPassport
  extends Pick<
    PassportRecord,
    "id" | "passport_country" | "passport_expiry" | "reference" | "status" | "created_at" | "updated_at"
  > {
  /** The end of the number; null: what is sealed cannot be read. */
  number: string | null;
  /** The first letters of the names; null likewise. */
  name: string | null;
}

function masked(record: PassportRecord): MaskedPassport {
  const { id, passport_country, passport_expiry, reference, status, created_at, updated_at } = record;
  const isReadable = record.unreadable !== true;
  return {
    ...{ id, passport_country, passport_expiry, reference, status, created_at, updated_at },
    number: isReadable ? maskedNumber(record.passport_no) : null,
    name: isReadable ? maskedNames(record.first_name, record.last_name) : null,
  };
}

/** The same page as `listPassports` has, masked. Throws `invalid_cursor`, `no_agent_record`. */
export async function listMasked(
  q: Read,
  filter: PassportFilter,
): Promise<{ data: MaskedPassport[]; pagination: Pagination }> {
  const { records, pagination } = await listPassports(q, filter);
  return { data: records.map(masked), pagination };
}

/** The same page as `listExpiring` has, masked. Throws `invalid_cursor`, `no_agent_record`. */
export async function listMaskedExpiring(
  q: Read,
  filter: PassportFilter,
): Promise<{ data: MaskedPassport[]; pagination: Pagination }> {
  const { rows, pagination } = await listExpiring(q, filter);
  return { data: rows.map((row) => masked(toRecord(q, row))), pagination };
}

/** One record of the owner's pool, masked. Throws `not_found`, `no_agent_record`. */
export async function showMasked(q: Read, { owner, id }: { owner: Owner; id: PassportId }): Promise<MaskedPassport> {
  await requireAgent(q, owner.partnerId);
  return masked(toRecord(q, await requireOwnPassport(q, owner, id)));
}

import { and, desc, eq, sql } from "drizzle-orm";
import type { PassportId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { byCreation, oldestFirst, pageOf } from "../kernel/page.ts";
import { notFound } from "../kernel/problem.ts";
import type { Row } from "../store/schema/tables.ts";
import { IN_POOL } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { numberIndex, openPassportIfReadable, type PassportRow } from "./passport.ts";

/** A passport as the operator's commands print it: its state, without what is sealed. */
export interface OperatorPassport {
  id: PassportId;
  /** The partner's slug. */
  partner: string;
  environment: string;
  first_name: string;
  last_name: string;
  title: string | null;
  passport_country: string;
  passport_expiry: string;
  reference: string | null;
  verification: string;
  rejection: string | null;
  onshore: boolean;
  uses: number;
  assigned_request_id: string | null;
  withdrawn_at: string | null;
  created_at: string;
  updated_at: string;
}

type Joined = { passport: PassportRow; partner: string };

function toOperatorPassport(q: Read, { passport: row, partner }: Joined): OperatorPassport {
  const names = openPassportIfReadable(q, row);
  return {
    id: row.id,
    partner,
    environment: row.environment,
    first_name: names?.first_name ?? "",
    last_name: names?.last_name ?? "",
    title: names?.title ?? null,
    passport_country: row.passport_country,
    passport_expiry: row.passport_expiry,
    reference: row.reference,
    verification: row.verification,
    rejection: row.rejection,
    onshore: row.onshore,
    uses: row.use_count,
    assigned_request_id: row.assigned_request_id,
    withdrawn_at: isoTimeOrNull(row.withdrawn_at),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

const byId = statement((db, t, slot: Slots<{ id: PassportId }>) =>
  db
    .select({ passport: t.passports, partner: t.partners.slug })
    .from(t.passports)
    .innerJoin(t.partners, eq(t.partners.id, t.passports.partner_id))
    .where(eq(t.passports.id, slot.id)),
);

const byNumber = statement((db, t, slot: Slots<{ number_index: string }>) =>
  db
    .select({ passport: t.passports, partner: t.partners.slug })
    .from(t.passports)
    .innerJoin(t.partners, eq(t.partners.id, t.passports.partner_id))
    .where(eq(t.passports.number_index, slot.number_index))
    .orderBy(desc(t.passports.created_at), desc(t.passports.id)),
);

/** One passport of any pool by its id. Throws `not_found`. */
export async function showPassport(q: Read, id: PassportId): Promise<OperatorPassport> {
  const found = first(await byId(q, { id }));
  if (found === null) throw notFound("passport");
  return toOperatorPassport(q, found);
}

/** Every record of a passport number, whatever its country, in all pools, withdrawn ones too; newest first. */
export async function findPassports(q: Read, number: string): Promise<OperatorPassport[]> {
  return (await byNumber(q, { number_index: numberIndex(q, number) })).map((one) => toOperatorPassport(q, one));
}

type Window = { key: number; id: string; limit: number };

const awaiting = statement((db, t, slot: Slots<Window>) =>
  db
    .select({ passport: t.passports, partner: t.partners.slug })
    .from(t.passports)
    .innerJoin(t.partners, eq(t.partners.id, t.passports.partner_id))
    .where(
      and(
        eq(t.passports.pool_key, IN_POOL),
        eq(t.passports.verification, "pending"),
        sql`(${t.passports.created_at}, ${t.passports.id}) > (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(t.passports.created_at, t.passports.id)
    .limit(slot.limit),
);

/** A page of what awaits verification, over all partners, oldest first. Throws `invalid_cursor`. */
export async function verificationQueue(
  q: Read,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ data: OperatorPassport[]; next_cursor: string | null }> {
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: { list: "passport_queue" }, start: oldestFirst },
    (window) => awaiting(q, window),
    ({ passport }) => byCreation(passport),
  );
  return { data: rows.map((one) => toOperatorPassport(q, one)), next_cursor: pagination.next_cursor };
}

/** One draw of a passport. */
export interface PassportUse {
  passport_id: PassportId;
  brand: string;
  carrier: string;
  request_id: string;
  actor: string;
  drawn_at: string;
  released_at: string | null;
}

const usesOf = statement((db, t, slot: Slots<{ id: PassportId }>) =>
  db
    .select()
    .from(t.passportUses)
    .where(eq(t.passportUses.passport_id, slot.id))
    .orderBy(t.passportUses.drawn_at, t.passportUses.id),
);

/** Every draw of a passport, released ones too, oldest first. */
export async function passportUses(q: Read, id: PassportId): Promise<PassportUse[]> {
  return (await usesOf(q, { id })).map(toUse);
}

function toUse({ id, drawn_at, released_at, ...use }: Row<"passportUses">): PassportUse {
  return { ...use, drawn_at: isoTime(drawn_at), released_at: isoTimeOrNull(released_at) };
}

import { and, eq, gte, isNull, lt, sql } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import type { Identity } from "../kernel/identity.ts";
import { newId } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { Secret } from "../kernel/secret.ts";
import { insert } from "../store/rows.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { openPassportIfReadable, type PassportRow } from "./passport.ts";

/** Uses of one passport for one carrier's brand at the same time (contract: Limits). */
const USES_PER_BRAND = 4;

/** For which request a passport is drawn, and what it must be good for. */
export interface DrawRequest extends Owner {
  brand: string;
  /** The carrier's prefix or name, for the record. */
  carrier: string;
  /** YYYY-MM-DD; the passport must not expire before it. */
  activationDate: string;
  requestId: string;
  actor: Actor;
}

/** A passport drawn for a request. The request keeps a sealed copy: later purges do not reach into it. */
export interface DrawnPassport {
  passportId: PassportId;
  identity: Secret<Identity>;
}

type Wanted = Owner & { brand: string; date: string; uses: number; after: string };

const leastUsed = statement((db, t, slot: Slots<Wanted>) => {
  const { passports: p, passportUses: u } = t;
  const usesOfBrand = sql<number>`(select count(*) from ${u} where ${u.passport_id} = ${p.id}
    and ${u.brand} = ${slot.brand} and ${u.released_at} is null)`;
  return db
    .select()
    .from(p)
    .where(
      and(
        eq(p.partner_id, slot.partnerId),
        eq(p.environment, slot.environment),
        eq(p.drawable, true),
        gte(p.passport_expiry, slot.date),
        lt(usesOfBrand, USES_PER_BRAND),
        sql`(${p.use_count}, ${p.id}) > (${slot.uses}, ${slot.after})`,
      ),
    )
    .orderBy(p.use_count, p.id)
    .limit(1);
});

const countUse = statement((db, t, slot: Slots<{ id: PassportId; request_id: string }>) =>
  db
    .update(t.passports)
    .set({ use_count: sql`${t.passports.use_count} + 1`, assigned_request_id: slot.request_id })
    .where(eq(t.passports.id, slot.id)),
);

/** The passport to draw, and its identity; one that cannot be read is passed over. Null: there is none. */
async function nextReadable(tx: Tx, { partnerId, environment, brand, activationDate: date }: DrawRequest) {
  let last = { uses: -1, after: "" };
  for (;;) {
    const row = first(await leastUsed(tx, { partnerId, environment, brand, date, ...last }));
    if (row === null) return null;
    const passport = openPassportIfReadable(tx, row);
    if (passport !== null) return { row, passport };
    last = { uses: row.use_count, after: row.id };
  }
}

/**
 * Draws the least used passport of the pool that is verified, onshore, unexpired on the date and has fewer than 4 uses
 * for the brand; among equals the oldest. Null when there is none. The use is recorded, and in the audit trail.
 */
export async function drawPassport(tx: Tx, request: DrawRequest): Promise<DrawnPassport | null> {
  const { brand, requestId, carrier, actor } = request;
  const found = await nextReadable(tx, request);
  if (found === null) return null;
  const { row, passport } = found;
  await countUse(tx, { id: row.id, request_id: requestId });
  await insert(tx, "passportUses", [
    {
      id: newId(tx),
      passport_id: row.id,
      brand,
      request_id: requestId,
      carrier,
      actor,
      drawn_at: tx.now,
    },
  ]);
  await audit(tx, "passports.draw", row, { requestId, actor });
  const { reference, ...identity } = passport;
  return { passportId: row.id, identity: new Secret(identity) };
}

const release = statement((db, t, slot: Slots<{ request_id: string; now: number }>) =>
  db
    .update(t.passportUses)
    .set({ released_at: slot.now })
    .where(and(eq(t.passportUses.request_id, slot.request_id), isNull(t.passportUses.released_at)))
    .returning({ passport_id: t.passportUses.passport_id }),
);

const discountUse = statement((db, t, slot: Slots<{ id: PassportId; request_id: string }>) =>
  db
    .update(t.passports)
    .set({
      use_count: sql`${t.passports.use_count} - 1`,
      assigned_request_id: sql`nullif(${t.passports.assigned_request_id}, ${slot.request_id})`,
    })
    .where(eq(t.passports.id, slot.id))
    .returning(),
);

/** Gives a request's draw back to the pool: its use no longer counts. Nothing happens where nothing was drawn. */
export async function releaseDraw(tx: Tx, input: { requestId: string; actor: Actor }): Promise<void> {
  const released = await release(tx, { request_id: input.requestId, now: tx.now });
  for (const { passport_id } of released) {
    const row = first(await discountUse(tx, { id: passport_id, request_id: input.requestId }));
    if (row !== null) await audit(tx, "passports.release", row, input);
  }
}

async function audit(
  tx: Tx,
  action: string,
  row: PassportRow,
  { requestId, actor }: { requestId: string; actor: Actor },
) {
  const target = { targetKind: "passport", targetId: row.id, partnerId: row.partner_id };
  await recordAudit(tx, { actor, action, ...target, note: `request ${requestId}` });
}

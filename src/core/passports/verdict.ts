import { and, eq } from "drizzle-orm";
import { changesOf } from "../audit/changes.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { PartnerId, PassportId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { Verification } from "../store/schema/values.ts";
import { IN_POOL } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { numberIndex, type PassportRow, requirePassport } from "./passport.ts";

/** What the operator decides about a passport. */
export interface Verdict {
  verification: Exclude<Verification, "pending">;
  /** Whether its holder is onshore; undefined leaves the mark as it is. */
  onshore?: boolean | undefined;
  /** Why it is rejected. */
  reason?: string | undefined;
}

/** A document, in every pool that holds it, or in those of one partner. */
export interface DocumentVerdict extends Verdict {
  /** ISO 3166-1 alpha-3. */
  country: string;
  number: string;
  partnerId?: PartnerId | undefined;
}

/** Records the verdict on a passport; returns its new row. Throws `not_found`, `conflict` when it was withdrawn. */
export async function recordVerdict(tx: Tx, input: Verdict & { id: PassportId; actor: Actor }): Promise<PassportRow> {
  const row = await requirePassport(tx, input.id);
  if (row.withdrawn_at !== null) throw new Problem("conflict", `Passport ${row.id} was withdrawn from its pool.`);
  return (await writeVerdict(tx, row, input, input.actor)).row;
}

const ofDocument = statement((db, t, slot: Slots<{ number_index: string; country: string }>) =>
  db
    .select()
    .from(t.passports)
    .where(
      and(
        eq(t.passports.number_index, slot.number_index),
        eq(t.passports.passport_country, slot.country),
        eq(t.passports.pool_key, IN_POOL),
      ),
    ),
);

export type DocumentOutcome = "updated" | "unchanged" | "not_found";

/** Records verdicts on documents, all in one transaction; each covers every pool that holds the document. */
export async function recordVerdicts(
  tx: Tx,
  input: { verdicts: readonly DocumentVerdict[]; actor: Actor },
): Promise<DocumentOutcome[]> {
  const outcomes: DocumentOutcome[] = [];
  for (const verdict of input.verdicts) {
    const document = { number_index: numberIndex(tx, verdict.number), country: verdict.country };
    const rows = (await ofDocument(tx, document)).filter(
      (row) => verdict.partnerId === undefined || row.partner_id === verdict.partnerId,
    );
    let outcome: DocumentOutcome = rows.length === 0 ? "not_found" : "unchanged";
    for (const row of rows) if ((await writeVerdict(tx, row, verdict, input.actor)).changed) outcome = "updated";
    outcomes.push(outcome);
  }
  return outcomes;
}

/** `updated_at` stays, since partners see it and verification is not theirs. */
async function writeVerdict(tx: Tx, row: PassportRow, verdict: Verdict, actor: Actor) {
  const { verification } = verdict;
  const onshore = verdict.onshore ?? row.onshore;
  const rejection = verification === "rejected" ? (verdict.reason ?? null) : null;
  const changed = row.verification !== verification || row.onshore !== onshore || (row.rejection ?? null) !== rejection;
  if (!changed) return { row, changed };
  const drawable = verification === "verified" && onshore && row.withdrawn_at === null;
  const verdictColumns = { verification, rejection, onshore, drawable };
  await updateRow(tx, "passports", { id: row.id }, verdictColumns);
  await recordAudit(tx, {
    actor,
    action: verification === "verified" ? "passports.verify" : "passports.reject",
    targetKind: "passport",
    targetId: row.id,
    partnerId: row.partner_id,
    fields: row.onshore === onshore ? ["verification"] : ["verification", "onshore"],
    changes: changesOf(row, verdictColumns, ["verification", "onshore"]),
    note: rejection,
  });
  return { row: { ...row, ...verdictColumns }, changed };
}

import { eq } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { AlertTargetId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import { invalid, notFound } from "../kernel/problem.ts";
import { readSetting } from "../platform/settings.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { AlertChannel, AlertKind } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { endpointUrlFault } from "../webhooks/create.ts";
import { newWebhookSecret } from "../webhooks/signature.ts";
import { notify } from "./settle.ts";

/** Where alerts go: an e-mail address or a URL. */
export interface AlertAddress {
  channel: AlertChannel;
  address: string;
}

/** A target as operators see it. */
export interface AlertTarget {
  id: AlertTargetId;
  channel: AlertChannel;
  /** Only the origin of a URL: the rest may be a token. */
  address: string;
  /** Null: all, those of later versions too. */
  kinds: AlertKind[] | null;
  failed_attempts: number;
  /** The last notice that arrived, the last attempt, and why that one failed. */
  last_sent_at: string | null;
  last_at: string | null;
  last_error: string | null;
  created_at: string;
}

type TargetRow = Row<"alertTargets">;

const addressCell = (id: AlertTargetId) => ({ column: "alert_targets.address_sealed", row: id }) as const;
const secretCell = (id: AlertTargetId) => ({ column: "alert_targets.secret_sealed", row: id }) as const;

const byAddress = statement((db, t, slot: Slots<{ key: string }>) =>
  db.select().from(t.alertTargets).where(eq(t.alertTargets.address_key, slot.key)),
);

const all = statement((db, t, _slot) => db.select().from(t.alertTargets).orderBy(t.alertTargets.id));

const dropNotices = statement((db, t, slot: Slots<{ id: AlertTargetId }>) =>
  db.delete(t.alertNotices).where(eq(t.alertNotices.target_id, slot.id)),
);
const dropTarget = statement((db, t, slot: Slots<{ id: AlertTargetId }>) =>
  db.delete(t.alertTargets).where(eq(t.alertTargets.id, slot.id)),
);

async function findTarget(q: Read, address: AlertAddress): Promise<TargetRow | null> {
  const key = q.vault.blindIndex("alert_target", `${address.channel} ${normalized(address)}`);
  return first(await byAddress(q, { key })) ?? null;
}

/** Two spellings of one mailbox are one target. */
function normalized({ channel, address }: AlertAddress): string {
  return channel === "email" ? address.trim().toLowerCase() : address.trim();
}

/** Something before and after one @, and no blanks or brackets: the mail server decides the rest. */
const EMAIL = /^[^\s@<>,;]+@[^\s@<>,;]+$/;

async function requireAddress(q: Read, { channel, address }: AlertAddress): Promise<void> {
  if (channel === "email") {
    if (!EMAIL.test(address.trim()) || address.length > 254) throw invalid({ email: ["must be an e-mail address"] });
    return;
  }
  const allowPrivate = (await readSetting(q, "allow_private_webhooks")) === "yes";
  const fault = endpointUrlFault(address, { environment: allowPrivate ? "sandbox" : "production", allowPrivate });
  if (fault !== null) throw invalid({ webhook: [fault.replace(" in production", "")] });
}

interface NewTarget extends AlertAddress {
  kinds: AlertKind[] | null;
  actor: Actor;
}

/**
 * Adds a target, or replaces the kinds of the one with this address. The secret of a new webhook is answered this once;
 * null: there is none, or it was answered before. Throws `validation`.
 */
export async function setAlertTarget(
  tx: Tx,
  { kinds, actor, ...given }: NewTarget,
): Promise<{ target: AlertTarget; secret: string | null }> {
  await requireAddress(tx, given);
  const known = await findTarget(tx, given);
  const id = known?.id ?? newId<AlertTargetId>(tx);
  const secret = known === null && given.channel === "webhook" ? newWebhookSecret(tx.ids) : null;
  if (known !== null) await updateRow(tx, "alertTargets", { id }, { kinds, updated_at: tx.now });
  else {
    await insert(tx, "alertTargets", [
      {
        id,
        channel: given.channel,
        address_sealed: tx.vault.seal(normalized(given), addressCell(id)),
        address_key: tx.vault.blindIndex("alert_target", `${given.channel} ${normalized(given)}`),
        secret_sealed: secret === null ? null : tx.vault.seal(secret, secretCell(id)),
        kinds,
        due_at: null,
        leased_until: null,
        lease_no: 0,
        failed_attempts: 0,
        last_sent_at: null,
        last_at: null,
        last_error: null,
        created_at: tx.now,
        updated_at: tx.now,
      },
    ]);
  }
  await recordAudit(tx, { actor, action: "alerts.set", targetKind: "alert_target", targetId: id, fields: ["kinds"] });
  const row = await findTarget(tx, given);
  if (row === null) throw new Error("the target that was just written is not there");
  return { target: toTarget(tx, row), secret };
}

/** Removes a target with what waits for it. Throws `not_found`. */
export async function removeAlertTarget(
  tx: Tx,
  { actor, ...given }: AlertAddress & { actor: Actor },
): Promise<AlertTarget> {
  const row = await findTarget(tx, given);
  if (row === null) throw notFound("alert_target");
  const target = toTarget(tx, row);
  await dropNotices(tx, { id: row.id });
  await dropTarget(tx, { id: row.id });
  await recordAudit(tx, { actor, action: "alerts.remove", targetKind: "alert_target", targetId: row.id });
  return target;
}

/** Every target, in the order in which they were added. */
export async function listAlertTargets(q: Read): Promise<AlertTarget[]> {
  return (await all(q, {})).map((row) => toTarget(q, row));
}

/** Puts a test into the queues of all targets, or of the one with this address; answers them. Throws `not_found`. */
export async function testAlerts(
  tx: Tx,
  { actor, only }: { only: AlertAddress | null; actor: Actor },
): Promise<AlertTarget[]> {
  const one = only === null ? null : await findTarget(tx, only);
  const rows = only === null ? await all(tx, {}) : one === null ? [] : [one];
  if (rows.length === 0) throw notFound("alert_target");
  await notify(tx, rows, { alert_id: null, state: "raised", detail: "A test that an operator asked for." });
  for (const { id } of rows) {
    await recordAudit(tx, { actor, action: "alerts.test", targetKind: "alert_target", targetId: id });
  }
  return rows.map((row) => toTarget(tx, row));
}

/** Where a target's notices go, and what signs them. */
export function openTarget(q: Pick<Read, "vault">, row: TargetRow): { address: string; secret: string | null } {
  const { id, address_sealed, secret_sealed } = row;
  return {
    address: q.vault.open(address_sealed, addressCell(id)),
    secret: secret_sealed === null ? null : q.vault.open(secret_sealed, secretCell(id)),
  };
}

function toTarget(q: Pick<Read, "vault">, row: TargetRow): AlertTarget {
  const address = q.vault.openIfReadable(row.address_sealed, addressCell(row.id)) ?? "unreadable";
  const { id, channel, kinds, failed_attempts, last_error } = row;
  return {
    id,
    channel,
    address: channel === "webhook" && URL.canParse(address) ? new URL(address).origin : address,
    kinds,
    failed_attempts,
    last_sent_at: isoTimeOrNull(row.last_sent_at),
    last_at: isoTimeOrNull(row.last_at),
    last_error,
    created_at: isoTime(row.created_at),
  };
}

import { recordAudit } from "../audit/record.ts";
import { isoTime } from "../kernel/clock.ts";
import { findByKey, insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { CircuitState } from "../store/schema/values.ts";
import { statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

type CircuitRow = Row<"circuits">;

/** Faults in a row that open a circuit. */
const MOST_FAULTS = 5;
/** How long it stays open at first; each time in a row twice as long, up to ten minutes. */
const OPEN_MS = 30_000;
const LONGEST_OPEN_MS = 600_000;
/** How long one unit may take to prove the supplier, before another is bought for it. */
const PROBE_MS = 60_000;

/** How long an account that cannot buy is left alone, unless its balance shows before that it can. */
const ACCOUNT_MS = 600_000;

/** Whether more may be bought of a supplier: yes; or not before `until` (ms), null: not before its balance is seen. */
export type Passage = { open: false } | { open: true; until: number | null; reason: string };

function rowOf(q: Read, supplier: string): Promise<CircuitRow | null> {
  return findByKey(q, "circuits", { supplier });
}

/** Whether more may be bought, as a look at it: nothing is changed, no probe is spent. */
export async function passageOf(q: Read, supplier: string): Promise<Passage> {
  const row = await rowOf(q, supplier);
  if (row === null || row.state === "closed") return { open: false };
  const reason = row.reason ?? "it failed";
  if (row.probe_at === null) return { open: true, until: null, reason };
  return row.probe_at <= q.now ? { open: false } : { open: true, until: row.probe_at, reason };
}

/** Faults that were counted since its last success: the fewer, the better it does. */
export async function faultsOf(q: Read, supplier: string): Promise<number> {
  return (await rowOf(q, supplier))?.failures ?? 0;
}

/** A passage that was taken. `probe` names the one unit that is to prove an open circuit; null: it is closed. */
export type Taken = { open: false; probe: number | null } | Extract<Passage, { open: true }>;

/**
 * Takes the passage that `passageOf` saw: of an open circuit whose time has come the first unit is its probe, and no
 * other passes until it is known how that ended.
 */
export async function takePassage(tx: Tx, supplier: string): Promise<Taken> {
  const passage = await passageOf(tx, supplier);
  const row = await rowOf(tx, supplier);
  if (passage.open) return passage;
  if (row === null || row.state === "closed") return { open: false, probe: null };
  const probe = tx.now + PROBE_MS;
  await move(tx, row, { state: "half_open", probe_at: probe });
  return { open: false, probe };
}

/** A unit or top-up whose purchase shows how its supplier does. `probe`: see `Taken`; null: it is none. */
export interface Witness {
  supplier: string;
  probe: number | null;
}

/**
 * Whether it decides: while the circuit is closed everything does, then the probe alone that is waited for. What was
 * under way when it opened, and what looks for an earlier purchase, shows nothing of what is bought now.
 */
function decides({ state, probe_at }: CircuitRow, { probe }: Witness): boolean {
  return state === "closed" || (state === "half_open" && probe_at === probe);
}

/** Lets the next unit be the probe: this one bought nothing, and showed nothing. */
export async function returnPassage(tx: Tx, { supplier, probe }: Witness): Promise<void> {
  const row = probe === null ? null : await rowOf(tx, supplier);
  if (row?.state === "half_open" && row.probe_at === probe) {
    await updateRow(tx, "circuits", { supplier }, { probe_at: tx.now });
  }
}

/** Counts a fault: no answer, or an unusable one. */
export async function noteFault(tx: Tx, witness: Witness & { reason: string }): Promise<void> {
  const { supplier, reason } = witness;
  const row = (await rowOf(tx, supplier)) ?? (await added(tx, supplier));
  if (!decides(row, witness)) return;
  const failures = row.failures + 1;
  if (row.state === "closed" && failures < MOST_FAULTS) return updateRow(tx, "circuits", { supplier }, { failures });
  const openings = row.openings + 1;
  const openMs = Math.min(OPEN_MS * 2 ** (openings - 1), LONGEST_OPEN_MS);
  const why = row.state === "half_open" ? `its probe failed: ${reason}` : `${failures} faults in a row: ${reason}`;
  await move(tx, row, { state: "open", reason: why, failures, openings, probe_at: tx.now + openMs });
}

/** Counts a success: faults are forgotten, and a circuit whose probe it was is closed again. */
export async function noteSuccess(tx: Tx, witness: Witness): Promise<void> {
  const row = await rowOf(tx, witness.supplier);
  if (row !== null && decides(row, witness)) await close(tx, row);
}

/** Opens the circuit of a supplier that refuses its account: no plan of it can be bought. */
export async function noteAccountFault(tx: Tx, witness: Witness & { reason: string }): Promise<void> {
  const { supplier, reason } = witness;
  const row = await rowOf(tx, supplier);
  if (row === null || decides(row, witness)) await openCircuit(tx, { supplier, reason, forMs: ACCOUNT_MS });
}

/**
 * Opens the circuit at once: nothing of this supplier can be bought. `forMs` null: until `closeCircuit`, since buying
 * would show nothing new.
 */
export async function openCircuit(
  tx: Tx,
  { supplier, reason, forMs }: { supplier: string; reason: string; forMs: number | null },
): Promise<void> {
  const row = (await rowOf(tx, supplier)) ?? (await added(tx, supplier));
  const probe_at = forMs === null ? null : tx.now + forMs;
  if (row.state === "open" && row.reason === reason) return updateRow(tx, "circuits", { supplier }, { probe_at });
  await move(tx, row, { state: "open", reason, probe_at });
}

/** Closes a circuit that was opened for a balance or by settings; one that is closed stays so. */
export async function closeCircuit(tx: Tx, { supplier }: { supplier: string }): Promise<void> {
  const row = await rowOf(tx, supplier);
  if (row !== null) await close(tx, row);
}

async function close(tx: Tx, row: CircuitRow): Promise<void> {
  // Most suppliers have nothing to forget.
  if (row.state === "closed" && row.failures === 0) return;
  await move(tx, row, { state: "closed", reason: null, failures: 0, openings: 0, probe_at: null });
}

async function added(tx: Tx, supplier: string): Promise<CircuitRow> {
  const row: CircuitRow = {
    ...{ supplier, state: "closed", since: tx.now, reason: null, failures: 0, openings: 0, probe_at: null },
  };
  await insert(tx, "circuits", [row]);
  return row;
}

/** Writes the change; the audit trail is the circuit's history. */
async function move(tx: Tx, row: CircuitRow, change: Partial<CircuitRow> & { state: CircuitState }): Promise<void> {
  const { supplier } = row;
  const moved = change.state !== row.state;
  await updateRow(tx, "circuits", { supplier }, { ...change, ...(moved ? { since: tx.now } : {}) });
  if (!moved) return;
  const audit = { actor: "worker", action: "suppliers.circuit", targetKind: "supplier", targetId: supplier };
  const changes = [{ field: "circuit", from: row.state, to: change.state }];
  await recordAudit(tx, { ...audit, changes, note: change.reason ?? null });
}

/** A supplier's circuit, as `status` shows it. */
export interface Circuit {
  name: string;
  circuit: CircuitState;
  since: string | null;
  reason: string | null;
}

const all = statement((db, t, _slot) =>
  db.select({ name: t.suppliers.name }).from(t.suppliers).orderBy(t.suppliers.name),
);

/** The circuit of one supplier. `since` is null where it never opened. */
export async function circuitOf(q: Read, name: string): Promise<Circuit> {
  const row = await rowOf(q, name);
  const opened = row !== null && (row.state !== "closed" || row.since > 0) ? isoTime(row.since) : null;
  return { name, circuit: row?.state ?? "closed", since: opened, reason: row?.reason ?? null };
}

/** The circuits of all suppliers, by name. */
export async function circuits(q: Read): Promise<Circuit[]> {
  const shown: Circuit[] = [];
  for (const { name } of await all(q, {})) shown.push(await circuitOf(q, name));
  return shown;
}

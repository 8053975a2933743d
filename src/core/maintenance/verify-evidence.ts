import { type ChainCheck, verifyChains } from "../evidence/verify.ts";
import { inspectDatabase, openForReading } from "../store/open/reading.ts";
import { StoreError } from "../store/problems.ts";
import { findMasterKey } from "../store/sealing/key-files.ts";
import type { Installation } from "./doctor.ts";

/**
 * Verifies the audit trail and the ledger of an installation, served or not, and that the database still refuses to
 * change them. Changes nothing. Throws `StoreError` when it cannot be read, or its schema is older than this program.
 */
export async function verifyEvidence({ where, keys, clock }: Omit<Installation, "directory">): Promise<ChainCheck> {
  const { key: masterKey } = findMasterKey(keys);
  const { damage, drift, pending } = await inspectDatabase(where);
  if (damage[0] !== undefined) {
    throw new StoreError(`The database is damaged: ${damage[0]}.`, "See esimctl doctor, and restore the last backup.");
  }
  if (pending.length > 0) {
    const hint = "Start esimctl serve of this version, which brings it up to date, and verify again.";
    throw new StoreError("The schema is older than this program.", hint);
  }
  const reading = await openForReading(where, { clock });
  try {
    await reading.openKeys(masterKey);
    const found = await reading.read(verifyChains, { keyed: true });
    const guards =
      drift === null ? ["the guards could not be compared: this user may not create a schema"] : guardFaults(drift);
    const faults = guards.map((message) => ({ chain: null, no: null, message }));
    return {
      ...found,
      ok: found.ok && guards.length === 0,
      faults: [...faults, ...found.faults],
      fault_count: found.fault_count + guards.length,
    };
  } finally {
    await reading.close();
  }
}

/** Triggers that refuse changes, and the functions that they call. */
function guardFaults({ missing, altered }: { missing: string[]; altered: string[] }): string[] {
  const isGuard = (name: string) => /^(trigger|function) /.test(name);
  return [
    ...missing.filter(isGuard).map((name) => `${name} is missing`),
    ...altered.filter(isGuard).map((name) => `${name} was changed`),
  ];
}

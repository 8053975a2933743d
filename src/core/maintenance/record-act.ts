import { endEverySession } from "../accounts/sessions.ts";
import { type AuditEntry, recordAudit } from "../audit/record.ts";
import { openStore, type StoreDependencies } from "../store/open/open.ts";

/**
 * Writes a line of the audit trail into a database file that no store of this process has open. Brings its schema up to
 * date. With `signOut` all sessions of its people end. Throws `StoreError`.
 */
export async function recordAct(
  file: string,
  dependencies: StoreDependencies,
  { signOut = false, ...entry }: AuditEntry & { signOut?: boolean },
): Promise<void> {
  const store = await openStore({ file, create: false }, dependencies);
  try {
    if (signOut) await store.write(endEverySession, null);
    await store.write(recordAudit, entry);
  } finally {
    await store.close();
  }
}

import type { Clock } from "../kernel/clock.ts";
import { type Existing, openForReading } from "../store/open/reading.ts";
import { StoreError } from "../store/problems.ts";
import { checkLedger } from "./data-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { isFault } from "./finding.ts";

/** Opens a copy with its key and checks its ledger and its evidence. Throws `StoreError` with `hint`. */
export async function tryCopy(
  where: Existing,
  { masterKey, clock, hint }: { masterKey: Buffer; clock: Clock; hint: string },
): Promise<void> {
  const reading = await openForReading(where, { clock });
  try {
    await reading.openKeys(masterKey);
    const found = [await reading.read(checkLedger, null), await reading.read(checkEvidence, { keyed: true })].find(
      isFault,
    );
    if (found !== undefined) throw new StoreError(found.message, hint);
  } finally {
    await reading.close();
  }
}

import { StoreError } from "../problems.ts";
import type { Read } from "../store.ts";
import { storedValue } from "../stored-value.ts";

/** The setting that is there once the data of a PostgreSQL database went on elsewhere. */
export const MOVED = "moved_to";

/** Throws `StoreUnavailable` when this database's data went on elsewhere: nothing goes on here beside it. */
export async function refuseRelocatedDatabase(q: Read): Promise<void> {
  const to = await storedValue(q, MOVED);
  if (to === null) return;
  throw new StoreError(
    `The data of this database moved to ${to}.`,
    "Name that with --data. To go back to what is here, and lose what came since: " +
      `DELETE FROM settings WHERE key = '${MOVED}'`,
    undefined,
    { reason: "closed" },
  );
}

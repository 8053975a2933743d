import type { Clock } from "../kernel/clock.ts";
import type { Reading } from "../store/open/reading.ts";
import type { Finding } from "./finding.ts";
import { checkClock } from "./machine-checks.ts";
import { checkNodeClocks, checkOutages, checkPauses, checkReplicas, checkServing } from "./running-checks.ts";
import { checkServer } from "./server-checks.ts";
import { checkTransport } from "./transport-check.ts";
import { checkWork } from "./work-checks.ts";

/**
 * The checks of how it goes at this moment. Each reads little, however much the database holds, so that a daemon can
 * make them amid its requests. `isLocked`: a daemon may have the lock of the data directory.
 */
export async function checkState(
  reading: Pick<Reading, "read" | "ping">,
  { isLocked, clock }: { isLocked: boolean; clock: Clock },
): Promise<Finding[]> {
  return [
    ...(await reading.read(checkWork, null)),
    ...(await reading.read(checkOutages, null)),
    ...(await reading.read(checkPauses, null)),
    ...(await checkServer(reading, clock)),
    await reading.read(checkServing, { isLocked }),
    ...(await reading.read(checkNodeClocks, null)),
    ...(await reading.read(checkReplicas, null)),
    ...(await reading.read(checkTransport, null)),
    await reading.read(checkClock, null),
  ];
}

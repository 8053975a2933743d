import type { Clock } from "../kernel/clock.ts";
import { heldUpMs } from "../platform/blocked-writes.ts";
import { CLOCK_TOLERANCE_MS, clockAhead, isClockOff } from "../platform/clock-difference.ts";
import type { Reading } from "../store/open/reading.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";

/** What a PostgreSQL server reports of the moment: whether writes are held up, and the time. None for SQLite. */
export async function checkServer(reading: Pick<Reading, "ping">, clock: Clock): Promise<Finding[]> {
  const pulse = await reading.ping();
  if (pulse.now === null) return [];
  return [writes(heldUpMs(pulse)), clocks(await clockAhead(reading, clock))];
}

function writes(heldMs: number | null): Finding {
  if (heldMs === null) return fine("writes", "No session holds up writes.");
  const message = `A session holds up all writes and does nothing for ${Math.round(heldMs / 1_000)} s.`;
  const remedy =
    "A node is suspended or cut off amid a write: find it and restart it. PostgreSQL ends its session 10 s after its " +
    "last statement; of one that stays, pg_stat_activity has pid and client_addr, and pg_terminate_backend ends it.";
  return fault("writes", message, remedy);
}

function clocks(aheadMs: number | null): Finding {
  if (aheadMs === null) {
    const message = "The database took too long to respond for its clock to be compared with this machine's.";
    return warning("database_clock", message, "Run it again; check the network and the load of the server.");
  }
  if (!isClockOff(aheadMs)) return fine("database_clock", "This machine's clock agrees with the database's.");
  return fault(
    "database_clock",
    `This machine's clock is ${differenceWords(aheadMs)} the database's.`,
    `Set it, and keep it right with NTP: beyond ${CLOCK_TOLERANCE_MS / 1_000} s a node takes no work.`,
  );
}

/** "3 s ahead of" */
export function differenceWords(aheadMs: number): string {
  return `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
}

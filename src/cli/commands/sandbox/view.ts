import type { SandboxClock } from "../../client/answers.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { moment } from "../../output/words.ts";

/** The keys of a sandbox clock. */
export const CLOCK_JSON = "{now, system_time, ahead_ms, status: ready | advancing}";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A partner's sandbox clock. */
export function clockResult(clock: SandboxClock): Result {
  const record = recordResult(clock, () => ({
    "sandbox clock": moment(clock.now),
    "system time": moment(clock.system_time),
    ahead: clock.ahead_ms === 0 ? "-" : aheadWords(clock.ahead_ms),
    status: clock.status,
  }));
  const note = clock.status === "advancing" ? "What became due is done within seconds, by esimctl serve." : undefined;
  return { ...record, note };
}

/** "7 d 12 h": whole hours at the least. */
function aheadWords(ms: number): string {
  const [days, hours] = [Math.floor(ms / DAY_MS), Math.floor((ms % DAY_MS) / HOUR_MS)];
  if (days === 0 && hours === 0) return "less than 1 h";
  return [days === 0 ? "" : `${days} d`, hours === 0 ? "" : `${hours} h`].filter((part) => part !== "").join(" ");
}

import type { Pause } from "../../../core/platform/pauses.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { moment, shown, yesNo } from "../../output/words.ts";

/** The keys of what `orders pause` and `orders resume` print. */
export const PAUSE_JSON = "{paused, reason, since}";

/** Whether new orders are paused. */
export function pauseResult(pause: Pause | null): Result {
  const { reason = null, since = null } = pause ?? {};
  return recordResult({ paused: pause !== null, reason, since }, () => ({
    "orders paused": yesNo(pause !== null),
    reason: shown(reason),
    since: moment(since),
  }));
}

/** Minutes before each retry after a temporary fault of a carrier or supplier; then it is left to people. */
const FAULT_RETRY_MINUTES = [1, 2, 4, 8, 16] as const;

/** When to try again after the `faults`-th fault in a row (ms); null: no automatic retry follows. */
export function retryAt(now: number, faults: number): number | null {
  const minutes = FAULT_RETRY_MINUTES[faults - 1];
  return minutes === undefined ? null : now + minutes * 60_000;
}

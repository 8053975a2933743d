const RETRY_MS = [10_000, 30_000, 60_000, 120_000, 300_000, 900_000, 3_600_000];

/** How long after so many failed attempts, one at least, a mail is tried again (ms). */
export function mailRest(failedAttempts: number): number {
  return RETRY_MS[Math.min(failedAttempts, RETRY_MS.length) - 1] ?? 0;
}

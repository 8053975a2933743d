import { StoreError } from "../store/problems.ts";

/** What one check came to, and what to do about it. */
export interface Finding {
  /** A stable name for programs: `integrity`, `ledger`, … */
  check: string;
  /** Only faults make the whole not ok. */
  level: "ok" | "warning" | "fault";
  message: string;
  /** Null where there is nothing to do. */
  remedy: string | null;
}

/** All is well. */
export function fine(check: string, message: string): Finding {
  return { check, level: "ok", message, remedy: null };
}

/** To be looked at, without anything being wrong yet. */
export function warning(check: string, message: string, remedy: string): Finding {
  return { check, level: "warning", message, remedy };
}

/** Something is wrong. */
export function fault(check: string, message: string, remedy: string): Finding {
  return { check, level: "fault", message, remedy };
}

/** Whether it says that something is wrong. */
export function isFault({ level }: Finding): boolean {
  return level === "fault";
}

/** Whether nothing is wrong. */
export function isSound(findings: readonly Finding[]): boolean {
  return !findings.some(isFault);
}

/** What `look` finds; a `StoreError` on the way is itself the finding. */
export async function findings(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [fault(check, error.message, error.hint)];
  }
}

const MOST_NAMES = 5;

/** "a, b and 3 more": names in a sentence. */
export function named(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more > 0 ? `${names.slice(0, MOST_NAMES).join(", ")} and ${more} more` : names.join(", ");
}

import { readFileSync } from "node:fs";
import { userInfo } from "node:os";

/** The actor that the audit trail records for commands on local data. */
export const OPERATOR = `operator (${userWords()})`;

/**
 * The user of this process as the system knows it, never as its environment says, and who logged in where that is
 * another: several people may share the account that holds the data.
 */
function userWords(): string {
  const login = loginUid();
  const uid = process.getuid?.();
  const words = [userName(), uid === undefined ? null : `uid ${uid}`];
  if (login !== null && login !== uid) words.push(`login uid ${login}`);
  return words.filter((word) => word !== null).join(", ");
}

/** Null: this user has no entry among the system's accounts, as in some containers. */
function userName(): string | null {
  try {
    return userInfo().username.replaceAll(/[^\w.@\\-]/g, "_");
  } catch {
    return null;
  }
}

/** The user that logged in, the same behind sudo and su; null: the system keeps none. */
function loginUid(): number | null {
  try {
    const uid = Number(readFileSync("/proc/self/loginuid", "utf8"));
    // The largest number means that it was never set.
    return Number.isInteger(uid) && uid < 2 ** 32 - 1 ? uid : null;
  } catch {
    // Not Linux, or a kernel without auditing.
    return null;
  }
}

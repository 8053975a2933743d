import { Problem } from "../kernel/problem.ts";
import { CsvError } from "./error.ts";

/** What messages call a file that a form sent: they know no path of it. */
export const SENT_FILE = "The file";

/** The result of reading such a file. Throws `validation` with what is wrong with it, where, and what to do. */
export async function refusingUnread<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CsvError) throw new Problem("validation", `${error.message} ${error.hint}`);
    throw error;
  }
}

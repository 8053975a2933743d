import type { Readable } from "node:stream";
import type { Findings, Reading } from "../../bulk/reading.ts";

/** The orders of a file. */
export interface BulkFile extends Findings {
  /** Items as POST /orders/bulk takes them. */
  orders: unknown[];
  /** Rows or items that cannot be used. */
  rejected: number;
  rejectedFile: string | null;
  /** What was counted as rejected. */
  what: "Rows" | "Items";
  /** What is wrong with each, for a person, where the groups of `reasons` are not shown. */
  named: readonly string[];
}

/** A file, and how it is read. */
export interface Given {
  file: string;
  reading: Reading;
  /** What `-` reads in place of standard input, of which the beginning was read already. */
  stdin?: Readable;
}

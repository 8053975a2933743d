import { counted } from "../kernel/counted.ts";
import { hasUnboundKeys } from "../store/sealing/data-keys.ts";
import { tryEverySeal } from "../store/sealing/reseal.ts";
import type { Read } from "../store/store.ts";
import { type Finding, fault, fine, named, warning } from "./finding.ts";

/** Whether every sealed value opens in the cell where it is stored. */
export async function checkSealed(q: Read): Promise<Finding> {
  if (await hasUnboundKeys(q)) {
    const words = "Sealed values are still those of an earlier version.";
    return warning("sealed_values", words, "Start esimctl serve of this version, which seals them again.");
  }
  const { total, unreadable } = await tryEverySeal(q);
  if (unreadable.length === 0) return fine("sealed_values", `${counted(total, "sealed value")} can be read.`);
  const cells = unreadable.map(({ column, row }) => `${column} of ${row}`);
  return fault(
    "sealed_values",
    `${counted(unreadable.length, "sealed value")} cannot be read: ${named(cells)}.`,
    "They were altered, or copied from another row: put back those rows from a backup, or restore it: esimctl restore.",
  );
}

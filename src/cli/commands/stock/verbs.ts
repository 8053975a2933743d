import { importStockFile } from "./import.ts";
import { list } from "./list.ts";
import { low } from "./low.ts";

/** The verbs of `stock`, in the order of its help. */
export const verbs = [importStockFile, list, low];

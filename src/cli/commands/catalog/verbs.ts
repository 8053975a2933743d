import { exportCatalog } from "./export.ts";

/** The verbs of `catalog`, in the order of its help. */
export const verbs = [exportCatalog];

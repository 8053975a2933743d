import { importProductsFile } from "./import.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";
import { update } from "./update.ts";

/** The verbs of `products`, in the order of its help. */
export const verbs = [list, show, importProductsFile, update];

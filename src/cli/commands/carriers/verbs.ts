import { list } from "./list.ts";
import { set } from "./set.ts";

/** The verbs of `carriers`, in the order of its help. */
export const verbs = [list, set];

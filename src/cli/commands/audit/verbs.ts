import { list } from "./list.ts";

/** The verbs of `audit`. */
export const verbs = [list];

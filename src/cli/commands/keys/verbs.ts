import { rotate } from "./rotate.ts";

/** The verbs of `keys`. */
export const verbs = [rotate];

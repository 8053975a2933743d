import { tail } from "./tail.ts";

/** The verbs of `logs`. */
export const verbs = [tail];

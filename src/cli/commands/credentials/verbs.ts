import { create } from "./create.ts";
import { list } from "./list.ts";
import { revoke } from "./revoke.ts";
import { rotate } from "./rotate.ts";

/** The verbs of `credentials`, in the order of its help. */
export const verbs = [create, list, rotate, revoke];

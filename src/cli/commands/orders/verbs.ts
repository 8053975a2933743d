import { approve } from "./approve.ts";
import { create } from "./create.ts";
import { esims } from "./esims.ts";
import { list } from "./list.ts";
import { reject } from "./reject.ts";
import { show } from "./show.ts";

/** The verbs of `orders`, in the order of its help. */
export const verbs = [create, list, show, esims, approve, reject];

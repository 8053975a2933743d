import { approve } from "./approve.ts";
import { bulk } from "./bulk.ts";
import { cancel } from "./cancel.ts";
import { create } from "./create.ts";
import { esims } from "./esims.ts";
import { list } from "./list.ts";
import { queue } from "./queue.ts";
import { reject } from "./reject.ts";
import { retry } from "./retry.ts";
import { ship } from "./ship.ts";
import { show } from "./show.ts";

/** The verbs of `orders`, in the order of its help. */
export const verbs = [create, bulk, list, show, esims, queue, approve, reject, ship, cancel, retry];

import { cancel } from "./cancel.ts";
import { complete } from "./complete.ts";
import { confirm } from "./confirm.ts";
import { fail } from "./fail.ts";
import { list } from "./list.ts";
import { queue } from "./queue.ts";
import { reschedule } from "./reschedule.ts";
import { retry } from "./retry.ts";
import { show } from "./show.ts";
import { submit } from "./submit.ts";

/** The verbs of `activations`, in the order of its help. */
export const verbs = [submit, list, show, cancel, reschedule, queue, confirm, complete, fail, retry];

import { edit } from "./edit.ts";
import { importPassportFile } from "./import.ts";
import { list } from "./list.ts";
import { purge } from "./purge.ts";
import { queue } from "./queue.ts";
import { reject } from "./reject.ts";
import { show } from "./show.ts";
import { uses } from "./uses.ts";
import { verify } from "./verify.ts";
import { withdraw } from "./withdraw.ts";

/** The verbs of `passports`, in the order of its help. */
export const verbs = [importPassportFile, list, show, edit, withdraw, queue, verify, reject, uses, purge];

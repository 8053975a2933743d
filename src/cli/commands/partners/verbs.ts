import { create } from "./create.ts";
import { list } from "./list.ts";
import { resume } from "./resume.ts";
import { show } from "./show.ts";
import { suspend } from "./suspend.ts";
import { update } from "./update.ts";

/** The verbs of `partners`, in the order of its help. */
export const verbs = [create, list, show, update, suspend, resume];

import { activate } from "./activate.ts";
import { status } from "./status.ts";
import { suspend } from "./suspend.ts";
import { usage } from "./usage.ts";

/** The verbs of `esims`, in the order of its help. */
export const verbs = [status, usage, activate, suspend];

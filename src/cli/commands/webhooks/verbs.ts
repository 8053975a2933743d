import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { deliveries } from "./deliveries.ts";
import { disable } from "./disable.ts";
import { enable } from "./enable.ts";
import { list } from "./list.ts";
import { listen } from "./listen.ts";
import { redeliver } from "./redeliver.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { show } from "./show.ts";
import { trigger } from "./trigger.ts";
import { verify } from "./verify.ts";

/** The verbs of `webhooks`, in the order of its help. */
export const verbs = [
  create,
  list,
  show,
  remove,
  listen,
  verify,
  deliveries,
  redeliver,
  enable,
  disable,
  trigger,
  rotateSecret,
];

import type { Actor } from "../../core/audit/record.ts";
import type { Principal } from "./context.ts";

/** Whether this is whoever uses the v1 handlers in process, on the operator's host; credentials' ids begin with sk_. */
export function isLocal({ clientId }: Pick<Principal, "clientId">): boolean {
  return clientId.startsWith("operator");
}

/** Who the audit trail names for what a caller of the API does. */
export function actorOf(caller: Pick<Principal, "clientId">): Actor {
  return isLocal(caller) ? caller.clientId : `client:${caller.clientId}`;
}

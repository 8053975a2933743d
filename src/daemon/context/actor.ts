import type { Actor } from "../../core/audit/record.ts";
import type { Principal } from "./context.ts";

/** Whether the v1 handlers run in process, for the operator on its host; the IDs of credentials begin with sk_. */
export function isLocal({ clientId }: Pick<Principal, "clientId">): boolean {
  return clientId.startsWith("operator");
}

/** The actor in the audit trail for what a caller of the API does. */
export function actorOf(caller: Pick<Principal, "clientId">): Actor {
  return isLocal(caller) ? caller.clientId : `client:${caller.clientId}`;
}

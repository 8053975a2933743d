import type { Actor } from "../core/audit/record.ts";
import type { Principal } from "./context.ts";

/** The client id of whoever uses the v1 handlers in process, on the operator's host. */
export const LOCAL_CLIENT = "operator";

/** Who the audit trail names for what a caller of the API does. */
export function actorOf({ clientId }: Pick<Principal, "clientId">): Actor {
  return clientId === LOCAL_CLIENT ? "operator" : `client:${clientId}`;
}

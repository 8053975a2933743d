import { type Actor, isOperator } from "../../core/audit/record.ts";
import type { PartnerId } from "../../core/kernel/brand.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import type { Ids } from "../../core/kernel/ids.ts";
import type { Problem } from "../../core/kernel/problem.ts";
import type { Store } from "../../core/store/store.ts";

/**
 * How long what is in flight, requests and work of workers, may take to finish once a daemon stops (ms). With the
 * writes that follow it ends within 30 s.
 */
export const STOP_GRACE_MS = 25_000;

/** What every route and plugin gets. */
export interface DaemonContext {
  store: Store;
  clock: Clock;
  ids: Ids;
  addresses: Addresses;
  /** Where this machine keeps what its daemon logs; left out: nowhere. */
  logFolder?: string;
  /** Whether the clock of this machine differs too much from the database's; left out: it is not compared. */
  isClockOff?: () => boolean;
  /** Whether mail to people goes out: by this node, perhaps by another one, or by none; left out: by this node. */
  mail?: "sent" | "perhaps" | "none";
}

/** The addresses in links, tokens and problem types; none ends in a slash. */
export interface Addresses {
  /** The public address of this daemon: `iss`, QR links. */
  publicUrl: string;
  /** Base of the problem types: `{docsUrl}/errors/<slug>`. */
  docsUrl: string;
}

/** The caller, once the token is verified. */
export interface Principal {
  partnerId: PartnerId;
  /** The partner's slug, for the log. */
  partner: string;
  clientId: string;
  environment: Environment;
  scopes: readonly string[];
  /** Whose prices the partner has; left out or null: the catalog's. */
  priceList?: string | null;
  ratePerMinute: number;
  /** The same of all credentials of the partner in this environment together; left out: not counted. */
  partnerPerMinute?: number;
  /** False: its credential may not handle identities. */
  identity?: boolean;
  /** When its token expires (ms); left out: it has none. */
  expiresAt?: number;
}

/** A client, as far as its requests are counted. */
export type Counted = Pick<Principal, "clientId" | "ratePerMinute" | "partnerPerMinute"> &
  Partial<Pick<Principal, "partnerId" | "environment">>;

/** A refused request, which still counts for the client that its token names. */
export interface RefusedClient {
  refusal: Problem;
  counted: Counted;
}

/**
 * The caller, by the Authorization header and the address of the peer. Throws `unauthorized`, `token_expired`,
 * `partner_suspended` or `ip_not_allowed`.
 */
export type Authenticate = (authorization: string | undefined, ip: string) => Promise<Principal | RefusedClient>;

/** Whether the v1 handlers run in process, for the operator on its host; the IDs of credentials begin with sk_. */
export function isLocal({ clientId }: Pick<Principal, "clientId">): boolean {
  return isOperator(clientId);
}

/** The actor in the audit trail for what a caller of the API does. */
export function actorOf(caller: Pick<Principal, "clientId">): Actor {
  return isLocal(caller) ? caller.clientId : `client:${caller.clientId}`;
}

/** The client ID of the caller's credential; null for the operator, who has none. */
export function credentialOf(caller: Pick<Principal, "clientId">): string | null {
  return isLocal(caller) ? null : caller.clientId;
}

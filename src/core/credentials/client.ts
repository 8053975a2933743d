import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { isWithin, type Network, networkOf } from "../kernel/networks.ts";
import { ratesOf } from "../partners/rates.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { railsOf } from "./credential.ts";

/** All that decides whether a client is let in, as one read. */
export interface Client {
  clientId: string;
  partnerId: PartnerId;
  /** The partner's slug. */
  partner: string;
  environment: Environment;
  /** The keyed mark of its secret. */
  secretMark: string;
  scopes: string[];
  /** False once revoked, or while a live credential's partner has no production access. */
  valid: boolean;
  suspended: boolean;
  /** From when on (ms) it is not valid any more; null: it does not expire. */
  expiresAt: number | null;
  /** The networks that it may be used from; null: any. */
  networks: readonly Network[] | null;
  /** Whether it may handle identities. */
  identity: boolean;
  /** Whose prices the partner has; null: the catalog's. */
  priceList: string | null;
  ratePerMinute: number;
  /** The same of all credentials of the partner in this environment together. */
  partnerPerMinute: number;
}

const withPartner = statement((db, t, slot: Slots<{ client_id: string }>) =>
  db
    .select({ credential: t.credentials, partner: t.partners })
    .from(t.credentials)
    .innerJoin(t.partners, eq(t.partners.id, t.credentials.partner_id))
    .where(eq(t.credentials.client_id, slot.client_id)),
);

/** The client behind a client id, or null. */
export async function findClient(q: Read, clientId: string): Promise<Client | null> {
  const row = first(await withPartner(q, { client_id: clientId }));
  if (row === null) return null;
  const { credential, partner } = row;
  const rails = await railsOf(q, credential);
  const { each, together } = ratesOf(partner);
  return {
    clientId: credential.client_id,
    partnerId: partner.id,
    partner: partner.slug,
    environment: credential.environment,
    secretMark: credential.secret_hash,
    scopes: credential.scopes,
    valid: credential.revoked_at === null && (credential.environment === "sandbox" || partner.production),
    suspended: partner.status === "suspended",
    expiresAt: rails.expires_at,
    networks: rails.allowed_addresses?.flatMap((text) => networkOf(text) ?? []) ?? null,
    identity: !rails.no_identity,
    priceList: partner.price_list,
    ratePerMinute: each,
    partnerPerMinute: together,
  };
}

/** Whether a client is past the end that the operator set. */
export function isExpired({ expiresAt }: Pick<Client, "expiresAt">, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Whether a client may be used from the address of a peer. */
export function isAdmitted({ networks }: Pick<Client, "networks">, ip: string): boolean {
  return networks === null || isWithin(ip, networks);
}

import { and, desc, eq, gt } from "drizzle-orm";
import type { EsimId, OrderId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Transitions } from "../kernel/state-machine.ts";
import type { Row } from "../store/schema/tables.ts";
import type { EsimActivationStatus, EsimStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { esimLinks } from "./links.ts";

/**
 * Contract: eSIM status. A suspended eSIM becomes active again by the same act that activates a new one; its validity
 * runs on meanwhile, so that it may expire suspended.
 */
export const esimTransitions: Transitions<EsimStatus> = {
  inactive: ["active", "suspended"],
  active: ["suspended", "expired"],
  suspended: ["active", "expired"],
  expired: [],
};

/** The same state as the status record's `activation_status` names it. */
export const activationStatusOf: Readonly<Record<EsimStatus, EsimActivationStatus>> = {
  inactive: "not_activated",
  active: "activated",
  suspended: "suspended",
  expired: "expired",
};

export type EsimRow = Row<"esims">;

const ofOrder = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select({ esim: t.esims, activation_policy: t.products.activation_policy })
    .from(t.esims)
    .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
    .where(eq(t.esims.order_id, slot.order_id))
    .orderBy(t.esims.id),
);

const byId = statement((db, t, slot: Slots<{ id: EsimId }>) =>
  db
    .select({ esim: t.esims, line: { status: t.orderLines.status, product_name: t.orderLines.product_name } })
    .from(t.esims)
    .innerJoin(t.orderLines, eq(t.orderLines.id, t.esims.line_id))
    .where(eq(t.esims.id, slot.id)),
);

/** An order's eSIMs with their product's activation policy, in the order they were assigned. */
export function esimsOfOrder(q: Read, orderId: OrderId) {
  return ofOrder(q, { order_id: orderId });
}

/** An eSIM and its order line, of any partner; null when there is none or it was never sold. */
export async function soldEsim(q: Read, id: EsimId) {
  return (await byId(q, { id }))[0] ?? null;
}

/** The LPA string a phone reads (SGP.22): `LPA:1$<smdp address>$<matching id>`. */
export function activationCode(esim: Pick<EsimRow, "smdp_address" | "matching_id">): string {
  return `LPA:1$${esim.smdp_address}$${esim.matching_id}`;
}

/** The parts of a whole LPA string; null when it is none. */
export function parseActivationCode(code: string): { smdp_address: string; matching_id: string } | null {
  const match = /^LPA:1\$([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)\$([A-Za-z0-9-]+)$/.exec(code);
  return match?.[1] && match[2] ? { smdp_address: match[1], matching_id: match[2] } : null;
}

/** The eSIM as its delivery shows it (contract: OrderEsims). */
export function toEsim(q: Read, publicUrl: string, esim: EsimRow, activationPolicy: string | null) {
  return {
    id: esim.id,
    iccid: esim.iccid,
    eid: esim.eid,
    smdp_address: esim.smdp_address,
    matching_id: esim.matching_id,
    activation_code: activationCode(esim),
    confirmation_code: esim.confirmation_code,
    ...esimLinks(q.vault, publicUrl, esim.id),
    status: esim.status,
    activation_policy: activationPolicy ?? "",
    created_at: isoTime(esim.assigned_at ?? esim.created_at),
    activated_at: isoTimeOrNull(esim.activated_at),
    ...(esim.environment === "sandbox" ? { is_test: true } : {}),
  };
}

export type Esim = ReturnType<typeof toEsim>;

const someOf = statement((db, t, slot: Slots<{ order_id: OrderId; after: string; limit: number }>) =>
  db
    .select({ id: t.esims.id, iccid: t.esims.iccid, smdp: t.esims.smdp_address, matching: t.esims.matching_id })
    .from(t.esims)
    .where(and(eq(t.esims.order_id, slot.order_id), gt(t.esims.id, slot.after)))
    .orderBy(t.esims.id)
    .limit(slot.limit),
);

/** An eSIM as events name it (contract: order.fulfilled). */
export interface EsimCode {
  iccid: string;
  activation_code: string;
  qr_code_url: string;
}

/** Some of an order's eSIMs, those after the id `after`; `last` is where to go on, null at the end. */
export async function esimCodes(
  q: Read,
  input: { orderId: OrderId; after: EsimId | null; limit: number; publicUrl: string },
): Promise<{ codes: EsimCode[]; last: EsimId | null }> {
  const rows = await someOf(q, { order_id: input.orderId, after: input.after ?? "", limit: input.limit });
  const codes = rows.map(({ id, iccid, smdp, matching }) => ({
    iccid,
    activation_code: activationCode({ smdp_address: smdp, matching_id: matching }),
    qr_code_url: esimLinks(q.vault, input.publicUrl, id).qr_code_url,
  }));
  return { codes, last: rows.length < input.limit ? null : (rows.at(-1)?.id ?? null) };
}

const ofIccid = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db.select().from(t.esims).where(eq(t.esims.iccid, slot.iccid)),
);

/** Every eSIM with this ICCID: in stock, sold or synthetic. */
export function esimsOfIccid(q: Read, iccid: string): Promise<EsimRow[]> {
  return ofIccid(q, { iccid });
}

const newestOfOrder = statement((db, t, slot: Slots<{ order_id: OrderId; limit: number }>) =>
  db.select().from(t.esims).where(eq(t.esims.order_id, slot.order_id)).orderBy(desc(t.esims.id)).limit(slot.limit),
);

/** The newest eSIMs of an order. */
export function newestEsimsOfOrder(q: Read, order_id: OrderId, limit: number): Promise<EsimRow[]> {
  return newestOfOrder(q, { order_id, limit });
}

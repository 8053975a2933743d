import { and, desc, eq, getTableColumns, gt } from "drizzle-orm";
import type { EsimId, OrderId, OrderLineId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Transitions } from "../kernel/state-machine.ts";
import { endingIn } from "../platform/iccid-ends.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { EsimActivationStatus, EsimStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { esimLinks } from "./links.ts";
import { openCodes, shownCodes } from "./sealed-codes.ts";
import {
  type EsimWindow,
  isSynthetic,
  lastSynthetic,
  syntheticByIccid,
  syntheticById,
  syntheticPage,
} from "./synthetic.ts";

/**
 * Contract: eSIM status. A suspended eSIM becomes active again by the same act that activates a new one; its validity
 * runs on meanwhile, so that it may expire suspended. One that was never used ends when its supplier takes it back.
 */
export const esimTransitions: Transitions<EsimStatus> = {
  inactive: ["active", "suspended", "expired"],
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

type StoredWindow = { order_id: OrderId; line_id: OrderLineId; after: string; limit: number };

/** Rows of an order, or of one line of it. */
function stored(ofLine: boolean) {
  return statement((db, t, slot: Slots<StoredWindow>) =>
    db
      // Flat: the builder maps nested tables far more slowly.
      .select({
        ...getTableColumns(t.esims),
        activation_policy: t.products.activation_policy,
        data_amount_mb: t.products.data_amount_mb,
      })
      .from(t.esims)
      .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
      .where(
        and(
          ofLine ? eq(t.esims.line_id, slot.line_id) : eq(t.esims.order_id, slot.order_id),
          gt(t.esims.id, slot.after),
        ),
      )
      .orderBy(t.esims.id)
      .limit(slot.limit),
  );
}

const storedOfOrder = stored(false);
const storedOfLine = stored(true);

const byId = statement((db, t, slot: Slots<{ id: EsimId }>) =>
  db
    .select({ esim: t.esims, line: { status: t.orderLines.status, product_name: t.orderLines.product_name } })
    .from(t.esims)
    .innerJoin(t.orderLines, eq(t.orderLines.id, t.esims.line_id))
    .where(eq(t.esims.id, slot.id)),
);

/** The window of all eSIMs of an order: for small ones. */
export const ALL_ESIMS: EsimWindow = { after: null, limit: Number.MAX_SAFE_INTEGER };

/**
 * Some of an order's delivered eSIMs with their product's activation policy and data, in the order they were
 * assigned. After the last one there are none; the set of a fulfilled line never changes.
 */
export async function esimPage(q: Read, order: Row<"orders">, window: EsimWindow) {
  if (isSynthetic(order)) {
    const page = await syntheticPage(q, order, window);
    return page.map(({ esim, product: { activation_policy, data_amount_mb } }) => {
      return { esim, activation_policy, data_amount_mb };
    });
  }
  const { after, limit, line } = window;
  const slots = { order_id: order.id, after: after ?? "", limit };
  // The other statement has no slot for the line.
  const rows = await (line === undefined
    ? storedOfOrder(q, { ...slots, line_id: "" as OrderLineId })
    : storedOfLine(q, { ...slots, line_id: line }));
  return rows.map(({ activation_policy, data_amount_mb, ...esim }) => ({ esim, activation_policy, data_amount_mb }));
}

/**
 * An eSIM with its codes and its order line, of any partner; null when there is none or its codes may not be seen yet.
 * Its codes are null where they cannot be read.
 */
export async function visibleEsim(q: Read, id: EsimId) {
  const found = first(await byId(q, { id })) ?? (await syntheticById(q, id));
  return found === null || found.line.status !== "fulfilled" ? null : { ...found, codes: openCodes(q, found.esim) };
}

/** The eSIM as its delivery shows it (contract: OrderEsims). */
export function toEsim(q: Read, publicUrl: string, esim: EsimRow, activationPolicy: string | null) {
  return {
    id: esim.id,
    iccid: esim.iccid,
    eid: esim.eid,
    ...shownCodes(q, esim),
    ...esimLinks(q.vault, publicUrl, esim.id),
    status: esim.status,
    activation_policy: activationPolicy ?? "",
    created_at: isoTime(esim.assigned_at ?? esim.created_at),
    activated_at: isoTimeOrNull(esim.activated_at),
    ...(esim.environment === "sandbox" ? { is_test: true } : {}),
  };
}

export type Esim = ReturnType<typeof toEsim>;

/** An eSIM as events name it (contract: order.fulfilled). */
export interface EsimCode {
  iccid: string;
  activation_code: string;
  qr_code_url: string;
}

/**
 * Some of an order's eSIMs, those after the id `after`: the first `limit` where it is null. `last` is where to go on,
 * null at the end. An order that was purged has none.
 */
export async function esimCodes(
  q: Read,
  input: { orderId: OrderId; after: EsimId | null; limit: number; publicUrl: string },
): Promise<{ codes: EsimCode[]; last: EsimId | null }> {
  const order = await findByKey(q, "orders", { id: input.orderId });
  const rows = order === null ? [] : await esimPage(q, order, { after: input.after, limit: input.limit });
  const codes = rows.map(({ esim }) => ({
    iccid: esim.iccid,
    activation_code: shownCodes(q, esim).activation_code,
    qr_code_url: esimLinks(q.vault, input.publicUrl, esim.id).qr_code_url,
  }));
  return { codes, last: rows.length < input.limit ? null : (rows.at(-1)?.esim.id ?? null) };
}

const ofIccid = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db.select().from(t.esims).where(eq(t.esims.iccid, slot.iccid)),
);

/** Every eSIM with this ICCID: in stock, sold or synthetic. */
export async function esimsOfIccid(q: Read, iccid: string): Promise<EsimRow[]> {
  const rows = await ofIccid(q, { iccid });
  const synthetic = await syntheticByIccid(q, iccid);
  const known = synthetic === null || rows.some(({ id }) => id === synthetic.esim.id);
  return known ? rows : [...rows, synthetic.esim];
}

/** The eSIM with this id, stored or synthetic; null: there is none. */
export async function findEsim(q: Read, id: EsimId): Promise<EsimRow | null> {
  return (await findByKey(q, "esims", { id })) ?? (await syntheticById(q, id))?.esim ?? null;
}

/** Those of eSIMs with one ICCID that have it now; where all of them have ended, these. */
export function presentEsims(esims: readonly EsimRow[]): EsimRow[] {
  const present = esims.filter(({ retired_at }) => retired_at === null);
  return present.length > 0 ? present : [...esims];
}

const newestOfOrder = statement((db, t, slot: Slots<{ order_id: OrderId; limit: number }>) =>
  db.select().from(t.esims).where(eq(t.esims.order_id, slot.order_id)).orderBy(desc(t.esims.id)).limit(slot.limit),
);

/** The newest eSIMs of an order. */
export function newestEsimsOfOrder(q: Read, order: Row<"orders">, limit: number): Promise<EsimRow[]> {
  return isSynthetic(order) ? lastSynthetic(q, order, limit) : newestOfOrder(q, { order_id: order.id, limit });
}

/** The newest eSIMs with a row whose ICCID ends in these digits, four at least; of one owner or of all. */
export const esimsEndingIn = endingIn("esims");

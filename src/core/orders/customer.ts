import type { Row } from "../store/schema/tables.ts";
import type { OrderCustomer, Traveler } from "../store/schema/values.ts";
import {
  keysOfCustomer,
  keysOfParcel,
  reindexRecord,
  sealedOrderCustomer,
  sealedTraveler,
} from "../store/sealing/people.ts";
import type { Read, Tx } from "../store/store.ts";

type OrderRow = Row<"orders">;

/** Whom a bulk order names; null for none, once that was cleared, and where it cannot be read, which is reported. */
export function customerOf(
  q: Pick<Read, "vault">,
  row: Pick<OrderRow, "id" | "customer_sealed">,
): OrderCustomer | null {
  return sealedOrderCustomer.open(q, row.id, row.customer_sealed);
}

/** An item's traveler; null for none, and where it cannot be read, which is reported. */
export function travelerOf(
  q: Pick<Read, "vault">,
  row: Pick<Row<"orderItems">, "id" | "traveller_sealed">,
): Traveler | null {
  return sealedTraveler.open(q, row.id, row.traveller_sealed);
}

/** Whether an item has a traveler who was not cleared; one that cannot be read is not known to be. */
export function namesTraveler(
  q: Pick<Read, "vault">,
  row: Pick<Row<"orderItems">, "id" | "traveller_sealed">,
): boolean {
  return row.traveller_sealed !== null && travelerOf(q, row)?.customer_email !== "";
}

/** Makes an order be found by its customer and its parcels, and by nothing that it had before. */
export async function indexOrder(
  tx: Tx,
  order: OrderRow,
  lines: readonly Pick<Row<"orderLines">, "shipping">[],
): Promise<void> {
  const customer = customerOf(tx, order);
  const parcels = lines.flatMap(({ shipping }) => (shipping === null ? [] : keysOfParcel(shipping)));
  const keys = [...(customer === null ? [] : keysOfCustomer(customer)), ...parcels];
  await reindexRecord(tx, { scope: order, record: { kind: "order", id: order.id }, keys });
}

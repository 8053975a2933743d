import {
  keysOfActivationCustomer,
  keysOfCustomer,
  keysOfMobileNumber,
  keysOfParcel,
  keysOfPassport,
  keysOfTraveler,
  sealedActivationCustomer,
  sealedMobileNumber,
  sealedOrderCustomer,
  sealedTraveler,
} from "../../src/core/store/sealing/people.ts";
import type { Read, Store } from "../../src/core/store/store.ts";

/** The index of people, by how it differs from what the records name: `+` must not be there, `-` is missing. */
export function indexFaults(store: Store): Promise<string[]> {
  return store.read(async (q: Read) => {
    const wanted = await wantedRows(q);
    const stored = new Set((await q.db.select().from(q.t.peopleIndex)).map((row) => `${row.digest} ${row.record_id}`));
    const missing = [...wanted].filter((row) => !stored.has(row)).map((row) => `- ${row}`);
    return [...missing, ...[...stored].filter((row) => !wanted.has(row)).map((row) => `+ ${row}`)];
  }, null);
}

async function wantedRows(q: Read): Promise<Set<string>> {
  const rows = new Set<string>();
  const add = (scope: { partner_id: string; environment: string }, id: string, keys: string[]) => {
    const space = `people ${scope.partner_id} ${scope.environment}`;
    for (const key of keys) rows.add(`${q.vault.blindIndex(space, key).slice(0, 16)} ${id}`);
  };
  const orders = new Map((await q.db.select().from(q.t.orders)).map((row) => [row.id, row]));
  for (const row of orders.values()) {
    const customer = sealedOrderCustomer.open(q, row.id, row.customer_sealed);
    if (customer !== null) add(row, row.id, keysOfCustomer(customer));
  }
  for (const { shipping, order_id, ...line } of await q.db.select().from(q.t.orderLines)) {
    if (shipping !== null) add(line, order_id, keysOfParcel(shipping));
  }
  for (const item of await q.db.select().from(q.t.orderItems)) {
    const traveler = sealedTraveler.open(q, item.id, item.traveller_sealed);
    const order = orders.get(item.order_id);
    if (traveler !== null && order !== undefined) add(order, item.id, keysOfTraveler(traveler));
  }
  for (const row of await q.db.select().from(q.t.activations)) {
    const customer = sealedActivationCustomer.open(q, row.id, row.customer_sealed);
    if (customer !== null) add(row, row.id, keysOfActivationCustomer(customer));
    const number = sealedMobileNumber.open(q, row.id, row.mobile_number_sealed);
    if (number !== null) add(row, row.id, keysOfMobileNumber(number));
  }
  for (const row of await q.db.select().from(q.t.passports)) {
    const opened = q.vault.openIfReadable(row.sealed, { column: "passports.sealed", row: row.id });
    if (opened !== null) add(row, row.id, keysOfPassport(JSON.parse(opened)));
  }
  return rows;
}

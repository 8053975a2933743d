import { isoTime } from "../kernel/clock.ts";
import { randomAlphanumeric } from "../kernel/ids.ts";
import { loader } from "../store/batch-context.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { orderIdByNumber } from "./order.ts";

const taken = statement((db, t, slot: Slots<{ numbers: string }>, dialect) => {
  const { order_number } = t.orders;
  return db
    .select({ order_number })
    .from(t.orders)
    .where(isListed(dialect, order_number, slot.numbers));
});

/** Numbers by their beginning that were found free, and that no command has taken yet. */
const freeNumbers = loader<string, string[]>({ loadMany: async (_, starts) => starts.map(() => []) });

/** The number of an order of that moment (ms): ORD-<yyyymmdd>-<5 alphanumerics>, by UTC's date; unique. */
export async function newNumber(tx: Tx, created_at: number): Promise<string> {
  const start = startOf(created_at);
  for (;;) {
    const ready = (await freeNumbers.get(tx, start)).pop();
    if (ready !== undefined) return ready;
    const number = `${start}${randomAlphanumeric(tx.ids, 5)}`;
    if ((await orderIdByNumber(tx, number)) === null) return number;
  }
}

/** Finds numbers for orders of this moment that commands of a batch create. */
export async function prefetchNumbers(tx: Tx, orders: readonly unknown[]): Promise<void> {
  const start = startOf(tx.now);
  const numbers = new Set(Array.from(orders, () => `${start}${randomAlphanumeric(tx.ids, 5)}`));
  const used = await taken(tx, { numbers: listOf([...numbers]) });
  for (const { order_number } of used) numbers.delete(order_number);
  freeNumbers.set(tx, start, [...(await freeNumbers.get(tx, start)), ...numbers]);
}

function startOf(created_at: number): string {
  return `ORD-${isoTime(created_at).slice(0, 10).replaceAll("-", "")}-`;
}
